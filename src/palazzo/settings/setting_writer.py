"""Writes one value into the user's `config.toml`, and leaves every other line and comment unchanged."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from palazzo.errors import PalazzoError, UsageError
from palazzo.paths import make_private_directory
from palazzo.settings.setting_keys import ALIASES, BY_NAME, Key, Value, read
from palazzo.settings.setting_layers import line_of

_LONGEST_VALUE = 200
"""The most lines of one value."""


def known_key(name: str) -> Key:
    """Return the key with that name or alias; raise UsageError if there is none."""
    key = BY_NAME.get(ALIASES[name][0] if name in ALIASES else name)
    if key is None:
        raise UsageError(f"There is no setting '{name}'. 'palazzo settings' lists them all.")
    return key


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
    """Return the text of the file at `path` with a setting's value changed, and without lines under its aliases.

    A line under an alias could otherwise hide the new value. Raises UsageError if the text is not TOML, or cannot be
    edited safely.
    """
    aliases = [alias for alias, (name, _) in ALIASES.items() if name == key.name]
    values = {name: old for name, old in _parse_toml(path, text).items() if name not in aliases}
    new_text = _edit_text(_without_lines(text, aliases), key.name, _toml(value))
    if not _says(new_text, _with(values, key.name, value)):
        raise UsageError(
            f"{path} has a shape that cannot be edited safely; set `{key.name} = {_toml(value)}` there by hand."
        )
    return new_text


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


def _parse_toml(path: Path, text: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not valid TOML: {error}. Fix it first; it was left unchanged.") from None


def _says(text: str, expected_values: dict[str, Any]) -> bool:
    """Whether the edited text parses to the wanted values; editing by lines does not support all TOML forms."""
    import tomllib

    try:
        return tomllib.loads(text) == expected_values
    except tomllib.TOMLDecodeError:
        return False


def _with(values: dict[str, Any], name: str, value: Value) -> dict[str, Any]:
    """Return the values with the setting applied."""
    first, _, rest = name.partition(".")
    plain = list(value) if isinstance(value, tuple) else value
    if not rest:
        return {**values, first: plain}
    below = values.get(first)
    return {**values, first: _with(below if isinstance(below, dict) else {}, rest, value)}


def _toml(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(element) for element in value)}]"
    return json.dumps(value, ensure_ascii=False)


def _edit_text(text: str, name: str, value: str) -> str:
    number = line_of(text, name)
    if number is not None:
        return _with_line(text, number - 1, value)
    table, _, key = name.rpartition(".")
    lines = text.splitlines(keepends=True)
    headers = [n for n, line in enumerate(lines) if re.match(r"\s*\[", line)]
    if not table:
        return _insert_line(lines, headers[0] if headers else len(lines), f"{key} = {value}\n")
    own = [n for n in headers if re.match(rf"\s*\[\s*{re.escape(table)}\s*\]", lines[n])]
    if own:
        return _insert_line(lines, own[0] + 1, f"{key} = {value}\n")
    return _insert_line(
        lines, len(lines), f"\n[{table}]\n{key} = {value}\n" if lines else f"[{table}]\n{key} = {value}\n"
    )


def _without_lines(text: str, names: Sequence[str]) -> str:
    """Return the text without the lines that set these names."""
    numbers = {line_of(text, name) for name in names}
    return "".join(line for n, line in enumerate(text.splitlines(keepends=True), 1) if n not in numbers)


def _insert_line(lines: list[str], at: int, new: str) -> str:
    if at and not lines[at - 1].endswith(("\n", "\r")):
        lines[at - 1] += "\n"
    return "".join([*lines[:at], new, *lines[at:]])


def _with_line(text: str, at: int, value: str) -> str:
    """Replace the value that begins on line `at`; keep its key, indentation and trailing comment."""
    lines = text.splitlines(keepends=True)
    head = re.match(r"\s*[\w.\"'-]+\s*=\s*", lines[at])
    if head is None:
        return text
    end, comment = _extent(lines, at)
    ending = lines[end - 1][len(lines[end - 1].rstrip("\r\n")) :]
    return "".join([*lines[:at], f"{head.group(0)}{value}{comment}{ending}", *lines[end:]])


def _extent(lines: list[str], at: int) -> tuple[int, str]:
    """Return (the line after the value that begins at `at`, the comment after the value)."""
    import tomllib

    for end in range(at + 1, min(len(lines), at + _LONGEST_VALUE) + 1):
        block = "".join(lines[at:end])
        last = len(block) - len(lines[end - 1])
        for mark in (*(n for n in range(last, len(block)) if block[n] == "#"), len(block)):
            try:
                tomllib.loads(block[:mark])
            except tomllib.TOMLDecodeError:
                continue
            value_text = block[:mark]
            space = value_text[len(value_text.rstrip()) :] if mark < len(block) else ""
            return end, space + block[mark:].rstrip("\r\n")
    return at + 1, ""


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
