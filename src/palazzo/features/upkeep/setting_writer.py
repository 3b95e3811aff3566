"""Writes one value into the user's `config.toml`, and leaves every other line and comment unchanged."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from palazzo.errors import PalazzoError, UsageError
from palazzo.paths import make_private_directory
from palazzo.settings.setting_keys import ALIASES, BY_NAME, Key, Value, known_key, read
from palazzo.text import toml_edit


def write(path: Path, name: str, text: str) -> Value:
    """Set `name` to the value in `text` in the file at `path`; return the parsed value.

    Raises UsageError for an unknown key, a wrong value, or a file that cannot be parsed; the file is then left
    unchanged.
    """
    key = known_key(name)
    if "user" not in key.layers:
        raise UsageError(f"`{name}` cannot be set in config.toml; each project sets it in its own palazzo.toml.")
    try:
        value = _parse_value(name, key, text)
    except ValueError as error:
        raise UsageError(f"`{name}` must be {error}; '{text}' is not.") from None
    _replace(path, with_value(path, _read(path), key, value))
    return value


def with_value(path: Path, text: str, key: Key, value: Value) -> str:
    """Return the text of the file at `path` with a setting's value changed, and without its aliases.

    An alias could otherwise hide the new value. Raises UsageError if the text is not TOML, or cannot be edited.
    """
    new_value = list(value) if isinstance(value, tuple) else value
    try:
        toml_edit.parse(text)
    except ValueError as error:
        raise UsageError(f"{path} is not valid TOML: {error}. Fix it first; it was left unchanged.") from None
    for alias, (name, _) in ALIASES.items():
        if name == key.name:
            text = toml_edit.without_key(text, alias)
    try:
        return toml_edit.with_value(text, key.name.split("."), new_value)
    except ValueError:
        line = toml_edit.format_line(key.name, new_value)
        raise UsageError(f"{path} has a shape that cannot be edited; set `{line}` there by hand.") from None


def _parse_value(name: str, key: Key, text: str) -> Value:
    if name in ALIASES:
        return ALIASES[name][1][read(BY_NAME["redact"], text) is True]
    return read(key, text)


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise PalazzoError(f"{path} cannot be read ({error}); fix it first.") from error


def _replace(path: Path, text: str) -> None:
    """Replace the file's content atomically with `text`: readers see either the old or the new content."""
    path = path.resolve()  # a link to a file kept elsewhere stays a link
    try:
        make_private_directory(path.parent)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                Path(name).chmod(path.stat().st_mode & 0o777)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise PalazzoError(f"{path} cannot be written ({error.strerror}); check its permissions.") from error
