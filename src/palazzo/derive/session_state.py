"""What the calls of a session left behind: others' words in files, references and the working tree. Pure.

What is left is named by a key: the last name of a path (`brought`), or one of these:

    any:NAME       others' words were written to a path of that last name, nobody knows where
    at:PATH        others' words were written to this path; in:PATH is the directory
    made:PATH      local words were written to this path          tree      the working tree
    script:PATH    a script was written that is local itself      pulled    what came into the branch itself
    run:NAME       a build file was changed to ask others         detour    another's commit was checked out
    port:N         others' words may be served at this port       ref:NAME  a reference of one's own

Of each key the last statement holds, and that something is others' where both were made at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

from palazzo.security.command_trust import CommandEffect, judge_command
from palazzo.security.git_commands import GitEffect, last_component
from palazzo.security.inline_code import is_own_python
from palazzo.security.known_programs import FILES_OF_RUNNERS
from palazzo.security.loopback import names_foreign_address
from palazzo.security.project_paths import Project
from palazzo.security.written_files import NO_NAMES

TREE, PULLED, DETOUR = "state:tree", "state:pulled", "state:detour"
Moment = tuple[int, int, int]
"""When something was left: a row's time, its ordinal, the place in it."""
_PATHS = re.compile(r"[\w./~@+*?-]{1,400}")
_PATTERN = re.compile(r"[*?]")
_MOVES = re.compile(r"\b(?:cd|pushd|popd|chdir)\b|\s-C\b")
_RUNNERS_FILES = frozenset(FILES_OF_RUNNERS.values())
_SCRIPT = re.compile(r".*\.(?:sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|php|ps1|mk)|[\w-]+", re.IGNORECASE)
_ASKS = re.compile(
    r"(?:^|[\s;&|(`\"'@!=:])(?:curl|wget|ssh|scp|rsync|nc|gh|glab|git +(?:pull|fetch|clone)"
    r"|fetch\(|urlopen|requests\.|https?\.get)",
    re.MULTILINE,
)
_LONGEST_FILE = 65_536


class Left(NamedTuple):
    """A key that a call left behind, as others' (`brought`) or as one's own (`made`)."""

    kind: Literal["brought", "made"]
    key: str


class SessionState:
    """What was left before a call, by hashed key."""

    def __init__(self, hashed: Callable[[str], bytes]) -> None:
        self._hashed = hashed
        self.brought: dict[bytes, Moment] = {}
        self.made: dict[bytes, Moment] = {}
        self.before_brought: Mapping[bytes, Moment] = {}
        self.before_made: Mapping[bytes, Moment] = {}

    def _last(self, own: Mapping[bytes, Moment], before: Mapping[bytes, Moment], key: str) -> Moment | None:
        name = self._hashed(key)
        return max((at for at in (own.get(name), before.get(name)) if at is not None), default=None)

    def is_brought(self, key: str) -> bool:
        """Whether the last statement on a key is that it is others'."""
        brought = self._last(self.brought, self.before_brought, key)
        if brought is None:
            return False
        made = self._last(self.made, self.before_made, key)
        return made is None or made <= brought

    def is_made(self, key: str) -> bool:
        """Whether the last statement on a key is that it is one's own; a path's name is not brought since."""
        made = self._last(self.made, self.before_made, key)
        if made is None:
            return False
        names = [key] if ":" not in key else [key, last_component(key.partition(":")[2])]
        return all((at := self._last(self.brought, self.before_brought, name)) is None or at < made for name in names)

    def holds(self, key: str) -> bool:
        """Answer `command_trust`: see `judge_command`."""
        return self.is_brought(key) if key.startswith("port:") else self.is_made(key)

    @property
    def is_empty(self) -> bool:
        """Whether nothing of others was left."""
        return not self.brought and not self.before_brought

    def looks_at_brought(self, names: frozenset[str], words: str, project: Project) -> bool:
        """Whether a call that mentions these names reads what others left.

        Where a command changes its directory, or nobody knows where it runs, names decide alone; else a name in another
        place is another file.
        """
        moves = not project.directory or _MOVES.search(words) is not None
        hits = {name for name in names if self.is_brought(name)}
        seen: set[str] = set()
        for found in _PATHS.finditer(words):
            parts = found[0].split("/")
            if _PATTERN.search(found[0]) and self._is_left_in(parts, project):
                return True
            for n, part in enumerate(parts):
                if part in hits:
                    seen.add(part)
                    place = project.resolve("/".join(parts[: n + 1]))
                    is_there = moves or self.is_brought(f"any:{part}") or self.is_brought(f"at:{place}")
                    if is_there and not self.is_made(f"made:{project.resolve(found[0])}"):
                        return True
        return bool(hits - seen)

    def _is_left_in(self, parts: list[str], project: Project) -> bool:
        """Whether others' words lie in the directory of a pattern of file names, or may."""
        at = next(n for n, part in enumerate(parts) if _PATTERN.search(part))
        if at < len(parts) - 1:
            return not self.is_empty
        return self.is_brought(f"in:{project.resolve('/'.join(parts[:at]) or '.')}")

    def reads_others(self, effect: CommandEffect) -> bool:
        """Whether a call that is local by itself shows what others left in the tree, or runs what they changed."""
        return (effect.reads_project and self.is_brought(TREE)) or any(
            self.is_brought(f"run:{name}") for name in effect.runs
        )

    def note(self, left: Left, at: Moment) -> None:
        """Take in what a call left."""
        into = self.brought if left.kind == "brought" else self.made
        into[self._hashed(left.key)] = at

    def consequences(self, effect: CommandEffect, is_others: bool) -> Iterator[Left]:
        """Yield what a call leaves: `is_others` says that its words are not local after all."""
        yield from (Left("brought", key) for name in sorted(effect.brought) for key in (name, f"any:{name}"))
        placed = effect.placed | (set(effect.made) if is_others and effect.is_local else set())
        yield from (left for path in sorted(placed) for left in _at(path))
        yield from (Left("brought", f"port:{port}") for port in sorted(effect.ports)[:64])
        if not is_others:
            yield from (Left("made", f"made:{path}") for path in effect.made)
        for change in effect.git:
            is_named = bool(change.branch) and self.is_brought(change.branch)
            if change.is_local and change.changes_tree and (is_named or (is_others and change.tree == "")):
                yield from (Left("brought", key) for key in (TREE, DETOUR if change.tree == "switched" else PULLED))
            else:
                yield from self._git(change)
        if effect.pulls and not effect.is_local:
            yield from (Left("brought", key) for key in (TREE, PULLED))

    def _git(self, change: GitEffect) -> Iterator[Left]:
        is_foreign = self.is_brought(TREE)
        if change.marked and not is_foreign:
            yield Left("made", f"ref:{change.marked}")
        match change.tree:
            case "pulled":
                yield from (Left("brought", key) for key in (TREE, PULLED))
            case "detour":
                yield from (Left("brought", key) for key in (TREE, DETOUR))
            case "reset" if self.is_made(f"ref:{change.branch}"):
                yield from (Left("made", key) for key in (TREE, PULLED))
            case "switched" if self.is_brought(DETOUR) and not self.is_brought(PULLED):
                if is_foreign or self.is_made(f"ref:{change.branch}"):
                    yield from (Left("made", key) for key in (TREE, f"ref:{change.branch}"))
                else:
                    yield Left("brought", TREE)

    def restored(self, effect: CommandEffect, project: Project) -> Iterator[Left]:
        """Yield the paths that a call put back to an own version."""
        for change in effect.git:
            if change.is_local and not self.is_brought(PULLED):
                yield from (Left("made", f"made:{project.resolve(path)}") for path in change.restored[:64])


def _at(path: str) -> Iterator[Left]:
    directory, _, name = path.rpartition("/")
    if name not in NO_NAMES:
        yield from (Left("brought", key) for key in (name, f"at:{path}", f"in:{directory or '.'}"))


def written_program(path: str, text: str, is_whole: bool, project: Project) -> Iterator[Left]:
    """Yield what it means that a file was written, or with `is_whole` false a part of it, where it may be run later."""
    is_hook = "/hooks/" in path or ".husky/" in path
    name = "hooks" if is_hook else last_component(path)
    text = text[:_LONGEST_FILE]
    if is_hook or name in _RUNNERS_FILES or _SCRIPT.fullmatch(name):
        if _ASKS.search(text) or (name not in _RUNNERS_FILES and names_foreign_address(text)):
            yield Left("brought", f"run:{name}")
        elif is_whole and _is_own_program(name, text, project):
            yield Left("made", f"script:{project.resolve(path)}")


def _is_own_program(name: str, text: str, project: Project) -> bool:
    def is_own(path: str) -> bool:
        return project.is_own(project.resolve(path))

    if name.endswith(".py"):
        return is_own_python(text, is_own)
    return name.endswith((".sh", ".bash")) and judge_command(text, project).is_local
