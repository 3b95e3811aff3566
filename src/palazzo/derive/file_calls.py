"""What a tool's call reads of a file or changes in it, and what its result shows of it, in the words of any host. Pure.

Reads calls and results as the readers of histories render them (`feeders/rendering`): a `key: value` line for each
argument, a value of several lines beneath its key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from palazzo.derive import digest_work as work

LONGEST_FILE = 2_000_000
"""Characters of a call or a result; what is longer is not looked at."""
_MOST_LINES = 2_000
"""Lines that hosts show of a file unless they are asked for others: of a file with as many, more may follow."""
_LONGEST_LINE = 2_000
"""Characters after which hosts cut a line."""
_MOST_PIECES = 64


class Piece(NamedTuple):
    """A stretch that a call puts in the place of another; `whole` says that both are whole lines, as of a patch.

    Of `everywhere` all places are meant that hold the old words.
    """

    old: str
    new: str
    whole: bool = False
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """A call that reads lines of a file: from `first` (0: from the beginning), at most `limit` (0: as many as come)."""

    path: str
    first: int = 0
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Writing:
    """A call that gives a file all of its text."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Editing:
    """A call that changes stretches of a file; without pieces nobody can tell which."""

    path: str
    pieces: tuple[Piece, ...] = ()


FileCall = Reading | Writing | Editing


class Shown(NamedTuple):
    """Lines of a file from `first` on, as a result shows them; None for one that is not shown whole.

    `is_all` says that the file has no others.
    """

    first: int
    lines: tuple[str | None, ...]
    is_all: bool


# --- calls -------------------------------------------------------------------------------------------------

_PATH, _OLD, _NEW, _ALL, _TEXT = "path", "old", "new", "all", "text"
_FIRST, _LIMIT, _LAST, _VIEW, _WHAT = "first", "limit", "last", "view", "what"
_KEYS = {
    _PATH: r"file_?path|absolute_path|path|filename|notebook_path|target_file",
    _OLD: r"(?: {4})?(?:old_?str(?:ing)?|old_?text)",
    _NEW: r"(?: {4})?(?:new_?str(?:ing)?|new_?text)",
    _ALL: r"replace_?all",
    _TEXT: r"content|contents|file_text|text",
    _FIRST: r"offset|start_?line",
    _LIMIT: r"limit",
    _LAST: r"end_?line",
    _VIEW: r"view_range",
    _WHAT: r"command",
}
"""How hosts call the arguments; the sides of an edit may be in a list of edits."""
_FIELD = re.compile(
    r"^(?:" + "|".join(f"(?P<{kind}>{names})" for kind, names in _KEYS.items()) + r"):(?: (?P<value>.*))?$",
    re.MULTILINE | re.IGNORECASE,
)
_OF_READS = frozenset([_PATH, _FIRST, _LIMIT, _LAST, _VIEW])
_OF_WRITES = frozenset([_PATH, _TEXT])
_OF_EDITS = frozenset([_PATH, _OLD, _NEW, _ALL])
_READS = re.compile(r"read|view|readfile|openfile|viewfile")
_WRITES = re.compile(r"write|writefile|create|createfile")
_EDITS = re.compile(r"edit|multiedit|update|strreplace|editfile|replace|insert\w*|notebookedit")
_EDITORS = re.compile(r"strreplace\w*tool|strreplaceeditor")
"""Tools that view, create and change, as their `command` says."""


def file_calls(tool: str, call: str) -> Iterator[FileCall]:
    """Yield what a call does to files."""
    if len(call) > LONGEST_FILE:
        return
    if "*** Begin Patch" in call:
        yield from patched(call)
        return
    name = plain_name(tool)
    if _EDITORS.fullmatch(name):
        name = dict(_fields(call, frozenset([_WHAT]))).get(_WHAT, "").replace("_", "")
    if pattern := next((one for one in (_READS, _WRITES, _EDITS) if one.fullmatch(name)), None):
        found = {_READS: _reading, _WRITES: _writing, _EDITS: _editing}[pattern](call)
        if found.path and "\n" not in found.path and "\0" not in found.path:
            yield found
        return
    command = work.command_of(call, 0, len(call))
    if shell := work.LISTED_SHELL.match(command):
        command = command[shell.end() :]
    yield from _by_a_command(command)
    yield from (Editing(call[low:high]) for low, high in work.changed(tool, call, 0, len(call)))


def plain_name(tool: str) -> str:
    """Return a tool's name as hosts' spellings have it in common."""
    return tool.replace("_", "").casefold()


def _reading(call: str) -> Reading:
    given = dict(_fields(call, _OF_READS))
    numbers = [int(one) for one in re.findall(r"\d{1,9}", given.get(_VIEW, ""))]
    first = numbers[0] if numbers else _number(given.get(_FIRST))
    last = numbers[1] if len(numbers) > 1 else _number(given.get(_LAST))
    limit = _number(given.get(_LIMIT)) or max(0, last - max(first, 1) + 1)
    return Reading(given.get(_PATH, ""), first, limit)


def _number(said: str | None) -> int:
    return int(said) if said and re.fullmatch(r"\d{1,9}", said) else 0


def _writing(call: str) -> Writing | Editing:
    given = dict(_fields(call, _OF_WRITES))
    path = given.get(_PATH, "")
    return Writing(path, given[_TEXT]) if _TEXT in given else Editing(path)


def _editing(call: str) -> Editing:
    given = list(_fields(call, _OF_EDITS))
    path = next((value for kind, value in given if kind == _PATH), "")
    everywhere = any(value.casefold() == "true" for kind, value in given if kind == _ALL)
    old = [value for kind, value in given if kind == _OLD][:_MOST_PIECES]
    new = [value for kind, value in given if kind == _NEW][:_MOST_PIECES]
    if len(old) != len(new):
        return Editing(path)
    return Editing(path, tuple(Piece(a, b, everywhere=everywhere) for a, b in zip(old, new, strict=True)))


def _fields(call: str, kinds: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the arguments of these kinds, in order: kind and value.

    A line of a value may look like another argument, so none is taken twice, but for the two sides of an edit, which
    come in turn.
    """
    at, left = 0, set(kinds)
    while found := _next(call, at, left):
        kind = _kind(found)
        left.discard(kind)
        left |= {_OLD: {_NEW}, _NEW: {_OLD}}.get(kind, set()) & kinds
        at = found.end()
        if found["value"] is not None or call[at : at + 1] != "\n":
            yield kind, found["value"] or ""
            continue
        after = _next(call, at + 1, left)
        if after is not None and after.start() == at + 1:  # an empty value, and the next argument
            yield kind, ""
            continue
        end = after.start() - 1 if after else len(call)
        value = call[at + 1 : end]
        yield kind, re.sub(r"(?:\A|\n) *-\s*\Z", "", value) if after and kind in (_OLD, _NEW) else value
        at = end


def _next(call: str, at: int, kinds: set[str]) -> re.Match[str] | None:
    return next((one for one in _FIELD.finditer(call, at) if _kind(one) in kinds), None)


def _kind(found: re.Match[str]) -> str:
    return next(kind for kind in _KEYS if found[kind] is not None)


# --- patches -----------------------------------------------------------------------------------------------

_FILE = re.compile(r"^\*\*\* (?P<how>Add|Update|Delete) File: (?P<path>.+?)\s*$")
_MOVED = re.compile(r"^\*\*\* Move to: (?P<path>.+?)\s*$")


def patched(call: str) -> Iterator[Writing | Editing]:
    """Yield what a patch of Codex's form does to files; of one that it deletes nothing."""
    how, path = "", ""
    hunk: list[str] = []
    pieces: list[list[str]] = []
    for line in [*call.split("\n"), "*** End Patch"]:
        if moved := _MOVED.match(line):
            path = moved["path"]
        elif line.startswith("*** "):
            if path and how != "Delete":
                yield _of_a_file(how, path, [*pieces, hunk])
            begins = _FILE.match(line)
            how, path = (begins["how"], begins["path"]) if begins else ("", "")
            hunk, pieces = [], []
        elif line.startswith("@@"):
            pieces.append(hunk)
            hunk = []
        else:
            hunk.append(line)


def _of_a_file(how: str, path: str, hunks: Sequence[Sequence[str]]) -> Writing | Editing:
    if how == "Add":
        return Writing(path, "".join(f"{line[1:]}\n" for hunk in hunks for line in hunk if line.startswith("+")))
    pieces = []
    for hunk in hunks:
        old = [line[1:] for line in hunk if not line.startswith("+")]
        new = [line[1:] for line in hunk if not line.startswith("-")]
        if any(line.startswith(("+", "-")) for line in hunk):
            pieces.append(Piece("\n".join(old), "\n".join(new), whole=True))
    return Editing(path, tuple(pieces[:_MOST_PIECES]))


# --- commands ----------------------------------------------------------------------------------------------

_ONE_FILE = r"(?P<path>'[^'\n]+'|\"[^\"\n$`]+\"|[\w./~@+-]+)"
_SHOWING = re.compile(
    rf"(?:cd (?P<cd>[\w./~@+-]+) *&& *)?(?:cat(?P<numbered> -n)?|sed -n ['\"]?(?P<first>\d+),(?P<last>\d+)p['\"]?"
    rf"|head -n ?(?P<most>\d+)) {_ONE_FILE}"
)


def _by_a_command(command: str) -> Iterator[Reading]:
    """Yield what a command shows that does nothing but show a file, or lines of it."""
    found = _SHOWING.fullmatch(command.strip())
    if found is None:
        return
    path = found["path"].strip("'\"")
    path = f"{found['cd'].rstrip('/')}/{path}" if found["cd"] and not path.startswith(("/", "~")) else path
    first = int(found["first"] or 0)
    limit = int(found["most"] or (int(found["last"]) - first + 1 if found["last"] else 0))
    if limit >= 0:
        yield Reading(path, first, limit)


# --- results -----------------------------------------------------------------------------------------------

_NUMBERED = re.compile(r"^ *(?P<n>\d{1,7})(?:→|\t|\| )(?P<line>.*)$")
_LISTED = re.compile(r"^ *(?P<n>\d{1,7})(?:: |\. |:$|\.$)(?P<line>.*)$")
"""How hosts number lines; the second way only where a text is known to be numbered."""
_WRAPPED = re.compile(r"<(?P<tag>file|content)>\n?(?P<body>.*?)(?:\n?</(?P=tag)>|\Z)", re.DOTALL)
_OF_CODEX = re.compile(
    r"\A(?:(?:Chunk ID|Wall time|Process exited|Exit code|Original token count|Total output).*\n)*Output:\n"
)
_CUT = re.compile(
    r"\n*[\[(](?:Showing (?:lines|\d)|\d+ more lines|Truncated|File has more lines|File content truncated"
    r"|Output capped)[^\n]*[\])]\s*\Z|\A(?:IMPORTANT: The file content has been truncated|\[File content truncated)"
    r"|\.\.\. ?\[\d+ (?:characters|lines) truncated\]|…\d+ (?:tokens|chars) truncated…"
)
"""What hosts say where they show only a part of a file."""
_MARKS = re.compile(r"\[redacted:|\[private\]|█|\ufffd|… ?\[truncated\]|\.\.\. ?\(line truncated|\.\.\. ?\[truncated\]")
"""What stands where a line is not as it is in the file."""
_PLAIN = frozenset(["read", "read_file", "view"])
"""Tools that show a file as it is; the others number its lines, or say something about it."""


def shown(reading: Reading, tool: str, result: str) -> Shown | None:
    """Return what a result shows of the file that was read; None where it says something else."""
    if not result or len(result) > LONGEST_FILE:
        return None
    is_command = not _READS.fullmatch(plain_name(tool))
    if is_command and (head := _OF_CODEX.match(result)):
        result = result[head.end() :]
    wrapped = None if is_command else _WRAPPED.search(result)
    body = wrapped["body"] if wrapped else result
    lines = _numbered(body, _LISTED if wrapped or tool == "view" else None)
    if lines is None and not wrapped and (is_command or tool in _PLAIN):
        lines = _plain(reading, body)
    if not lines or not lines[1]:
        return None
    first, told = lines
    asked = reading.limit
    is_cut = bool(_CUT.search(body)) or len(told) >= _MOST_LINES
    if len(told) > 1 and told[-1] == "" and not is_command:
        told = told[:-1]  # as good as always what stands behind the end of the last line
    return Shown(first, tuple(map(seen, told)), first == 1 and not asked and not is_cut)


def seen(line: str) -> str | None:
    """Return a line as it is compared; None for one of which a part is missing."""
    return None if len(line) >= _LONGEST_LINE or _MARKS.search(line) else line.rstrip("\r")


def _numbered(body: str, listed: re.Pattern[str] | None) -> tuple[int, list[str]] | None:
    """The lines that are numbered one after the other, from the first on."""
    first = 0
    found: list[str] = []
    for line in body.split("\n"):
        match = _NUMBERED.match(line) or (listed and listed.match(line))
        if match is None or (found and int(match["n"]) != first + len(found)):
            if found or line.strip():
                break
            continue
        first = first if found else int(match["n"])
        found.append(match["line"])
    return (first, found) if found and first > 0 else None


def _plain(reading: Reading, body: str) -> tuple[int, list[str]]:
    told = _CUT.sub("", body) if not body.startswith(("IMPORTANT: The file", "[File content truncated")) else ""
    if not told:
        return 1, []
    lines = told.split("\n")
    if lines[-1] == "":
        lines.pop()
    return max(reading.first, 1), lines[: reading.limit or None]
