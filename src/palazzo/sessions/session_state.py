"""How the calls of a session changed files, references and the working tree: foreign content, or the user's own. Pure.

A key names each thing that a call changed. It is the last component of a path, or one of these:

    any:NAME       foreign content was written to a path that ends in this name; its directory is unknown
    at:PATH        foreign content was written to this path       in:PATH   … to a file in this directory
    made:PATH      local words were written to this path          tree      the working tree
    script:PATH    a script was written that is local itself      pulled    commits that came into the branch
    run:NAME       a build file was changed to fetch foreign data detour    a foreign commit was checked out
    port:N         foreign content may be served at this port     ref:NAME  a reference to the user's own commit

The last change of a key decides. Where a key became foreign and own at the same moment, it counts as foreign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

from palazzo.security.command_trust import CommandEffect, judge_command
from palazzo.security.file_writes import NO_NAMES
from palazzo.security.git_commands import GitEffect, last_component
from palazzo.security.inline_code import is_own_python
from palazzo.security.known_programs import FILES_OF_RUNNERS
from palazzo.security.loopback import names_foreign_address
from palazzo.security.project_paths import Project
from palazzo.text.lazy_patterns import make_regex

TREE, PULL, DETOUR = "state:tree", "state:pulled", "state:detour"
Moment = tuple[int, int, int]
"""Time of a change by a call: the row's time, its ordinal, and the position in it."""
_PATHS = make_regex(r"[\w./~@+*?-]{1,400}")
_PATTERN = make_regex(r"[*?]")
_MOVES = make_regex(r"\b(?:cd|pushd|popd|chdir)\b|\s-C\b")
_RUNNERS_FILES = frozenset(FILES_OF_RUNNERS.values())
_SCRIPT = make_regex(r".*\.(?:sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|php|ps1|mk)|[\w-]+", re.IGNORECASE)
_ASKS = make_regex(
    r"(?:^|[\s;&|(`\"'@!=:])(?:curl|wget|ssh|scp|rsync|nc|gh|glab|git +(?:pull|fetch|clone)"
    r"|fetch\(|urlopen|requests\.|https?\.get)",
    re.MULTILINE,
)
_LONGEST_FILE = 65_536


class StateChange(NamedTuple):
    """A call made the content of a key foreign, or the user's own."""

    kind: Literal["foreign", "own"]
    key: str


class SessionState:
    """The time at which each key became foreign or own, before a call. Keys are hashed."""

    def __init__(self, hash_key: Callable[[str], bytes]) -> None:
        self._hash_key = hash_key
        self.foreign_times: dict[bytes, Moment] = {}
        self.own_times: dict[bytes, Moment] = {}
        self.earlier_foreign_times: Mapping[bytes, Moment] = {}
        self.earlier_own_times: Mapping[bytes, Moment] = {}

    def _last(self, current: Mapping[bytes, Moment], earlier: Mapping[bytes, Moment], key: str) -> Moment | None:
        name = self._hash_key(key)
        return max((at for at in (current.get(name), earlier.get(name)) if at is not None), default=None)

    def is_foreign_key(self, key: str) -> bool:
        """Return whether a key's last change made it foreign."""
        foreign_time = self._last(self.foreign_times, self.earlier_foreign_times, key)
        if foreign_time is None:
            return False
        own_time = self._last(self.own_times, self.earlier_own_times, key)
        return own_time is None or own_time <= foreign_time

    def is_own_key(self, key: str) -> bool:
        """Return whether a key's last change made it own; a path's last name must not have become foreign since."""
        own_time = self._last(self.own_times, self.earlier_own_times, key)
        if own_time is None:
            return False
        names = [key] if ":" not in key else [key, last_component(key.partition(":")[2])]
        return all(
            (at := self._last(self.foreign_times, self.earlier_foreign_times, name)) is None or at < own_time
            for name in names
        )

    def holds(self, key: str) -> bool:
        """Answer `command_trust`: see `judge_command`."""
        return self.is_foreign_key(key) if key.startswith("port:") else self.is_own_key(key)

    @property
    def is_empty(self) -> bool:
        """Return whether no call left foreign content."""
        return not self.foreign_times and not self.earlier_foreign_times

    def looks_at_foreign(self, names: frozenset[str], words: str, project: Project) -> bool:
        """Return whether a call that mentions these names reads foreign content that an earlier call left.

        If a command changes its directory, or its directory is unknown, the names alone decide. Otherwise the same name
        in another directory is another file.
        """
        moves = not project.directory or _MOVES.search(words) is not None
        hits = {name for name in names if self.is_foreign_key(name)}
        names_in_paths: set[str] = set()
        for match in _PATHS.finditer(words):
            parts = match[0].split("/")
            if _PATTERN.search(match[0]) and self._is_left_in(parts, project):
                return True
            for n, part in enumerate(parts):
                if part in hits:
                    names_in_paths.add(part)
                    place = project.resolve("/".join(parts[: n + 1]))
                    is_there = moves or self.is_foreign_key(f"any:{part}") or self.is_foreign_key(f"at:{place}")
                    if is_there and not self.is_own_key(f"made:{project.resolve(match[0])}"):
                        return True
        return bool(hits - names_in_paths)

    def _is_left_in(self, parts: list[str], project: Project) -> bool:
        """Return whether the directory of a file name pattern holds, or may hold, foreign content."""
        at = next(n for n, part in enumerate(parts) if _PATTERN.search(part))
        if at < len(parts) - 1:
            return not self.is_empty
        return self.is_foreign_key(f"in:{project.resolve('/'.join(parts[:at]) or '.')}")

    def reads_others(self, effect: CommandEffect) -> bool:
        """Return whether a local call shows a foreign working tree, or runs a file that became foreign."""
        return (effect.reads_project and self.is_foreign_key(TREE)) or any(
            self.is_foreign_key(f"run:{name}") for name in effect.runs
        )

    def note(self, change: StateChange, at: Moment) -> None:
        """Record a change that a call made."""
        into = self.foreign_times if change.kind == "foreign" else self.own_times
        into[self._hash_key(change.key)] = at

    def consequences(self, effect: CommandEffect, is_others: bool) -> Iterator[StateChange]:
        """Yield the changes that a call makes; `is_others`: its output is not local after all."""
        yield from (
            StateChange("foreign", key) for name in sorted(effect.foreign_names) for key in (name, f"any:{name}")
        )
        foreign_paths = effect.foreign_paths | (set(effect.own_paths) if is_others and effect.is_local else set())
        yield from (change for path in sorted(foreign_paths) for change in _at(path))
        yield from (StateChange("foreign", f"port:{port}") for port in sorted(effect.ports)[:64])
        if not is_others:
            yield from (StateChange("own", f"made:{path}") for path in effect.own_paths)
        for change in effect.git:
            is_named = bool(change.branch) and self.is_foreign_key(change.branch)
            if change.is_local and change.changes_tree and (is_named or (is_others and change.tree == "")):
                yield from (
                    StateChange("foreign", key) for key in (TREE, DETOUR if change.tree == "switched" else PULL)
                )
            else:
                yield from self._git(change)
        if effect.pulls and not effect.is_local:
            yield from (StateChange("foreign", key) for key in (TREE, PULL))

    def _git(self, change: GitEffect) -> Iterator[StateChange]:
        is_foreign = self.is_foreign_key(TREE)
        if change.marked_reference and not is_foreign:
            yield StateChange("own", f"ref:{change.marked_reference}")
        match change.tree:
            case "pulled":
                yield from (StateChange("foreign", key) for key in (TREE, PULL))
            case "detour":
                yield from (StateChange("foreign", key) for key in (TREE, DETOUR))
            case "reset" if self.is_own_key(f"ref:{change.branch}"):
                yield from (StateChange("own", key) for key in (TREE, PULL))
            case "switched" if self.is_foreign_key(DETOUR) and not self.is_foreign_key(PULL):
                if is_foreign or self.is_own_key(f"ref:{change.branch}"):
                    yield from (StateChange("own", key) for key in (TREE, f"ref:{change.branch}"))
                else:
                    yield StateChange("foreign", TREE)

    def restorations(self, effect: CommandEffect, project: Project) -> Iterator[StateChange]:
        """Yield the paths for which a call restored the user's own version."""
        for change in effect.git:
            if change.is_local and not self.is_foreign_key(PULL):
                yield from (StateChange("own", f"made:{project.resolve(path)}") for path in change.restored_paths[:64])


def _at(path: str) -> Iterator[StateChange]:
    directory, _, name = path.rpartition("/")
    if name not in NO_NAMES:
        yield from (StateChange("foreign", key) for key in (name, f"at:{path}", f"in:{directory or '.'}"))


def written_program(path: str, text: str, is_whole: bool, project: Project) -> Iterator[StateChange]:
    """Yield the change if a written file may be run later. `is_whole`: `text` is the whole file, not just a part."""
    is_hook = "/hooks/" in path or ".husky/" in path
    name = "hooks" if is_hook else last_component(path)
    text = text[:_LONGEST_FILE]
    if is_hook or name in _RUNNERS_FILES or _SCRIPT.fullmatch(name):
        if _ASKS.search(text) or (name not in _RUNNERS_FILES and names_foreign_address(text)):
            yield StateChange("foreign", f"run:{name}")
        elif is_whole and _is_own_program(name, text, project):
            yield StateChange("own", f"script:{project.resolve(path)}")


def _is_own_program(name: str, text: str, project: Project) -> bool:
    def is_own(path: str) -> bool:
        return project.is_own(project.resolve(path))

    if name.endswith(".py"):
        return is_own_python(text, is_own)
    return name.endswith((".sh", ".bash")) and judge_command(text, project).is_local
