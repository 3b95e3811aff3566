"""The layers of settings: two TOML files, one YAML front matter, the environment.

Yields each layer's values as (key, value, origin), and a sentence for each part that cannot be read. It does not
validate values; `palazzo.settings` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from palazzo.frozen_class import frozen
from palazzo.settings.setting_keys import ALIASES, KEYS, Layer

USER_FILE, PROJECT_FILE, PERSON_FILE = "config.toml", "palazzo.toml", ".claude/palazzo.local.md"
_LARGEST = 256 * 1024
OF_PLUGIN = "CLAUDE_PLUGIN_OPTION_"
"""The prefix of the variables in which Claude Code passes the person's plugin options to the plugin's hooks."""
UNSET = "unset"
"""The value of an option that is not set: the plugin's options need a default."""
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_TABLE = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")


@frozen
class SettingEntry:
    """One value as written in its source."""

    name: str
    value: object
    origin: str


@dataclass(slots=True)
class Source:
    """The contents of one layer."""

    layer: Layer
    entries: list[SettingEntry] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def user_file(path: Path) -> Source:
    """Read the user's `config.toml`."""
    return _file("user", path, _toml, ())


def project_file(root: Path) -> Source:
    """Read `palazzo.toml`; values that `palazzo.git.project_file` checks are not checked here."""
    return _file("project", root / PROJECT_FILE, _toml, ("rooms", "exclude_patterns"))


def person_file(root: Path) -> Source:
    """Read the front matter of `.claude/palazzo.local.md`."""
    return _file("person", root / PERSON_FILE, _front_matter, ())


def environment(variables: Mapping[str, str]) -> Source:
    """Read `PALAZZO_*`, and with lower priority the user's settings for Palazzo's plugin in Claude Code."""
    source = Source("environment")
    names = {key.variable: key.name for key in KEYS} | {f"PALAZZO_{alias.upper()}": alias for alias in ALIASES}
    for variable, name in names.items():
        for candidate in (variable.replace("PALAZZO_", OF_PLUGIN, 1), variable):
            value = variables.get(candidate, "")
            if value.strip() and not (value.strip() == UNSET and candidate != variable):
                source.entries.append(SettingEntry(name, value if name == "palace" else value.strip(), candidate))
    return source


def _file(layer: Layer, path: Path, parse: Callable[[str], Any], excluded_tables: tuple[str, ...]) -> Source:
    source = Source(layer)
    try:
        if not path.is_file():
            return source
        with path.open("rb") as file:
            raw = file.read(_LARGEST + 1)
    except OSError as error:
        source.problems.append(f"{path} cannot be read ({error.strerror}); nothing in it is used.")
        return source
    if len(raw) > _LARGEST:
        source.problems.append(f"{path} is larger than {_LARGEST:,} bytes; nothing in it is used.")
        return source
    text = raw.decode("utf-8-sig", "replace")
    try:
        values = parse(text)
    except (ValueError, RecursionError) as error:
        source.problems.append(f"{path} is not valid: {error}. Nothing in it is used.")
        return source
    for name, value in _flat(values):
        if name.partition(".")[0] not in excluded_tables:
            line = line_of(text, name)
            source.entries.append(SettingEntry(name, value, f"{path}, line {line}" if line else str(path)))
    return source


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _toml(text: str) -> Any:
    import tomllib

    return tomllib.loads(text)


def _front_matter(text: str) -> Any:
    match = _FRONT_MATTER.match(text)
    if not match:
        return {}
    import yaml

    try:
        values = yaml.safe_load(match.group(1))
    except yaml.MarkedYAMLError as error:
        line = f" (at line {error.problem_mark.line + 2})" if error.problem_mark else ""
        raise ValueError(f"{error.problem or 'it cannot be parsed'}{line}") from None
    except yaml.YAMLError as error:
        raise ValueError(str(error).partition("\n")[0]) from None
    if values is not None and not isinstance(values, Mapping):
        raise ValueError("its front matter must contain keys and values")
    return _texts(values or {})


def _texts(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the values with text keys; YAML keys may be of any type."""
    return {str(key): _texts(value) if isinstance(value, Mapping) else value for key, value in values.items()}


def line_of(text: str, name: str) -> int | None:
    """Return the line (from 1) that sets the dotted `name` in TOML or YAML, or None if it is unknown."""
    table = ""
    last = name.rpartition(".")[2]
    yaml_line = None
    for number, line in enumerate(text.splitlines(), 1):
        header = _TABLE.match(line)
        if header:
            table = re.sub(r"[\s\"']", "", header.group(1)) + "."
            continue
        set_here = re.match(r"(\s*)([\w.\"'-]+)\s*[=:]", line)
        if not set_here:
            continue
        key = re.sub(r"[\"']", "", set_here.group(2))
        if table + key == name:
            return number
        if key == last and set_here.group(1) and yaml_line is None:  # a key of YAML, below its parent
            yaml_line = number
    return yaml_line
