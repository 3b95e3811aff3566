"""A project's own configuration: `palazzo.toml`, or `mempalace.yaml` if there is no `palazzo.toml`.

One person's `.claude/palazzo.local.md` overrides, for that person only, what is read and under which label.

Anybody may have written these files, so they decide little: a label for the wing, the rooms, and which of the project's
own files are read. An invalid value affects only that value, and yields a sentence that names the file, the line if it
is known, and what is allowed. Unknown top-level keys belong to the settings.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Literal

from palazzo.frozen_class import frozen
from palazzo.settings import setting_layers

Policy = Literal["docs", "all"]

_LARGEST = 256 * 1024
_MOST = 200
"""The most rooms in a project, keywords in a room, and patterns in a list."""
_LONGEST = 200
"""The most characters in a name, a keyword or a pattern."""
_ROOM_KEYS = ("name", "description", "keywords")
_MINE_KEYS = ("policy", "include", "exclude")
_PERSONAL = ("wing", *(f"mine.{key}" for key in _MINE_KEYS))
_ROOM_BEGINS = re.compile(r"\s*\[\[\s*rooms\s*\]\]|\s*-\s+[\w\"']+\s*:(?:\s|$)")
"""The start of a table of TOML's `rooms`, or of an item of YAML's."""


@frozen
class Room:
    """A topic within a wing, as the project defines it."""

    name: str
    description: str = ""
    keywords: tuple[str, ...] = ()


@frozen
class ProjectConfig:
    """A project's own settings. `wing` is "" and `policy` None if the project does not set them."""

    wing: str = ""
    rooms: tuple[Room, ...] = ()
    policy: Policy | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    file: Path | None = None
    problems: tuple[str, ...] = ()


def read_project_config(root: Path) -> ProjectConfig:
    """Return the configuration of the project at `root`. Never raises: errors are in `problems`."""
    return _as_the_person_wants(_team(root), root)


def _as_the_person_wants(team: ProjectConfig, root: Path) -> ProjectConfig:
    """Apply `.claude/palazzo.local.md`: it replaces values, and adds exclusions. The settings report errors in it."""
    personal_settings = {
        setting.name: setting.value for setting in setting_layers.person_file(root).entries if setting.name in _PERSONAL
    }
    if not personal_settings:
        return team
    reading = _Reading(root / setting_layers.PERSON_FILE, "")
    mine = {key: personal_settings.get(f"mine.{key}") for key in _MINE_KEYS}
    own = reading.read(
        {"wing": personal_settings.get("wing"), "mine": {key: value for key, value in mine.items() if value}}
    )
    return replace(
        team,
        wing=own.wing or team.wing,
        policy=own.policy or team.policy,
        include=own.include or team.include,
        exclude=tuple(dict.fromkeys((*team.exclude, *own.exclude))),
    )


def _team(root: Path) -> ProjectConfig:
    for name, parse in (("palazzo.toml", _toml), ("mempalace.yaml", _yaml)):
        path = root / name
        try:
            if not path.is_file():
                continue
            with path.open("rb") as file:
                raw = file.read(_LARGEST + 1)
        except OSError as error:
            return ProjectConfig(file=path, problems=(f"{name} cannot be read ({error.strerror}).",))
        if len(raw) > _LARGEST:
            return ProjectConfig(file=path, problems=(f"{name} is larger than {_LARGEST:,} bytes and is not read.",))
        return _Reading(path, raw.decode("utf-8-sig", "replace")).config(parse)
    return ProjectConfig()


def _toml(text: str) -> object:
    return tomllib.loads(text)


def _yaml(text: str) -> object:
    import yaml  # here, since few projects have such a file and loading it takes a hook's whole time

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = f" (at line {error.problem_mark.line + 1})" if error.problem_mark else ""
        raise ValueError(f"{error.problem or 'it cannot be parsed'}{line}") from None
    except yaml.YAMLError as error:
        raise ValueError(str(error).partition("\n")[0]) from None


class _Reading:
    """Reads one file, and collects its problems."""

    def __init__(self, path: Path, text: str) -> None:
        self._path, self._lines = path, text.splitlines()
        self._text = text
        self._problems: list[str] = []

    def config(self, parse: Any) -> ProjectConfig:
        try:
            values = parse(self._text)
        except (ValueError, RecursionError) as error:
            problem = f"{self._path.name} is not valid: {error}. Nothing in it is used."
            return ProjectConfig(file=self._path, problems=(problem,))
        if values is None:
            values = {}
        if not isinstance(values, Mapping):
            problem = f"{self._path.name} must contain keys and values. Nothing in it is used."
            return ProjectConfig(file=self._path, problems=(problem,))
        return self.read(values)

    def read(self, values: Mapping[str, Any]) -> ProjectConfig:
        mine = values.get("mine", {})
        if not isinstance(mine, Mapping):
            self._wrong("mine", "must be a table")
            mine = {}
        self._report_unknown_keys(mine, _MINE_KEYS, "mine.")
        return ProjectConfig(
            wing=self._name(values, "wing"),
            rooms=self._rooms(values.get("rooms")),
            policy=self._policy(mine.get("policy")),
            include=self._patterns(mine, "include"),
            exclude=self._patterns(mine, "exclude") or self._patterns(values, "exclude_patterns"),
            file=self._path,
            problems=tuple(self._problems),
        )

    def _rooms(self, value: object) -> tuple[Room, ...]:
        if value is None:
            return ()
        if not isinstance(value, list):
            self._wrong("rooms", "must be a list of rooms, each with a name")
            return ()
        if len(value) > _MOST:
            self._wrong("rooms", f"may contain {_MOST} rooms; the others are left out")
        rooms = [self._room(room, number) for number, room in enumerate(value[:_MOST])]
        return tuple(room for room in rooms if room is not None)

    def _room(self, value: object, number: int) -> Room | None:
        if isinstance(value, str):
            value = {"name": value}
        if not isinstance(value, Mapping):
            self._wrong("rooms", "must contain rooms, each with a name", number)
            return None
        self._report_unknown_keys(value, _ROOM_KEYS, "rooms.", number)
        name = self._name(value, "name", number)
        if not name:
            if "name" not in value:
                self._wrong("rooms", "needs a name for every room", number)
            return None
        description = value.get("description", "")
        if not isinstance(description, str):
            self._wrong("description", "must be a string", number)
            description = ""
        return Room(name, description, self._strings(value, "keywords", number))

    def _name(self, values: Mapping[str, Any], key: str, number: int | None = None) -> str:
        value = values.get(key)
        if value is None:
            return ""
        if isinstance(value, str) and 0 < len(value.strip()) <= _LONGEST and value.isprintable():
            return value.strip()
        self._wrong(key, f"must be a name of 1 to {_LONGEST} characters on one line", number)
        return ""

    def _policy(self, value: object) -> Policy | None:
        if value == "docs" or value == "all":
            return "docs" if value == "docs" else "all"
        if value is not None:
            self._wrong("policy", 'must be "docs" or "all"')
        return None

    def _strings(self, values: Mapping[str, Any], key: str, number: int | None = None) -> tuple[str, ...]:
        value = values.get(key)
        if value is None:
            return ()
        entries = value if isinstance(value, list) else [None]
        good = [entry.strip() for entry in entries if isinstance(entry, str) and 0 < len(entry.strip()) <= _LONGEST]
        if len(good) < len(entries) or len(good) > _MOST:
            self._wrong(key, f"must be a list of up to {_MOST} strings of 1 to {_LONGEST} characters", number)
        return tuple(good[:_MOST])

    def _patterns(self, values: Mapping[str, Any], key: str) -> tuple[str, ...]:
        patterns = self._strings(values, key)
        inside = tuple(pattern for pattern in patterns if _stays_inside(pattern))
        if len(inside) < len(patterns):
            self._wrong(key, "may contain only patterns below the project's directory, without `..`")
        return inside

    def _report_unknown_keys(
        self, values: Mapping[str, Any], valid_keys: tuple[str, ...], table: str, number: int | None = None
    ) -> None:
        for key in values:
            if key not in valid_keys:
                self._wrong(
                    str(key), f"is not known in {table[:-1]}, which may contain {', '.join(valid_keys)}", number
                )

    def _wrong(self, key: str, requirement: str, number: int | None = None) -> None:
        line = self._line(key, number)
        location = f"{self._path.name}, line {line}" if line else self._path.name
        self._problems.append(f"{location}: `{key}` {requirement}. The default is used.")

    def _line(self, key: str, number: int | None) -> int | None:
        """Return the line that sets `key`, in the room of that number; None if the file has another format."""
        first, last = 0, len(self._lines)
        if number is not None:
            begins = [index for index, line in enumerate(self._lines) if _ROOM_BEGINS.match(line)]
            if number >= len(begins):
                return None
            first, last = begins[number], [*begins, last][number + 1]
        place = re.compile(rf"\s*(?:-\s+)?\[*\s*[\"']?{re.escape(key)}[\"']?\s*[=:\]]")
        line_indexes = (index for index in range(first, last) if place.match(self._lines[index]))
        return next(line_indexes, first if number is not None else -1) + 1 or None


def _stays_inside(pattern: str) -> bool:
    plain = pattern.removeprefix("!")
    return ".." not in PurePosixPath(plain.replace("\\", "/")).parts and not PureWindowsPath(plain).drive
