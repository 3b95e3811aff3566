"""File calls: what a tool call reads of a file or changes in it, and what its result shows of it, for any host.

Pure. Reads calls and results as transcript readers render them (`sources/formats/block_text`): a `key: value` line for
each argument, a value of several lines beneath its key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from palazzo.frozen_class import frozen
from palazzo.index import digest_work as work
from palazzo.text.lazy_patterns import make_regex

LONGEST_FILE = 2_000_000
"""Maximum characters of a call or a result. A longer one is not examined."""
_MOST_LINES = 2_000
"""Number of lines that hosts show of a file by default: a file shown with this many lines may have more."""
_LONGEST_LINE = 2_000
"""Characters after which hosts truncate a line."""
_MOST_PIECES = 64


class Piece(NamedTuple):
    """A piece of text that a call replaces with another; `whole` says that both are whole lines, as in a patch.

    With `everywhere`, all places that contain the old text are replaced.
    """

    old: str
    new: str
    whole: bool = False
    everywhere: bool = False


@frozen
class Reading:
    """A call that reads lines of a file: from `first` (0: from the beginning), at most `limit` (0: no limit)."""

    path: str
    first: int = 0
    limit: int = 0


@frozen
class Writing:
    """A call that writes the whole text of a file."""

    path: str
    text: str


@frozen
class FileEdit:
    """A call that changes pieces of a file; without pieces the changes are unknown."""

    path: str
    pieces: tuple[Piece, ...] = ()


FileCall = Reading | Writing | FileEdit


class Excerpt(NamedTuple):
    """Lines of a file from `first` on, as a result shows them; None for a line that is not shown in full.

    `is_all` says that the file has no other lines.
    """

    first: int
    lines: tuple[str | None, ...]
    is_all: bool


# --- calls -------------------------------------------------------------------------------------------------

_PATH, _OLD, _NEW, _REPLACE_ALL, _TEXT = "path", "old", "new", "all", "text"
_FIRST, _LIMIT, _LAST, _VIEW, _COMMAND = "first", "limit", "last", "view", "what"
_KEYS = {
    _PATH: r"file_?path|absolute_path|path|filename|notebook_path|target_file",
    _OLD: r"(?: {4})?(?:old_?str(?:ing)?|old_?text)",
    _NEW: r"(?: {4})?(?:new_?str(?:ing)?|new_?text)",
    _REPLACE_ALL: r"replace_?all",
    _TEXT: r"content|contents|file_text|text",
    _FIRST: r"offset|start_?line",
    _LIMIT: r"limit",
    _LAST: r"end_?line",
    _VIEW: r"view_range",
    _COMMAND: r"command",
}
"""The hosts' names of the arguments. The sides of an edit may be in a list of edits."""
_FIELD = make_regex(
    r"^(?:" + "|".join(f"(?P<{kind}>{names})" for kind, names in _KEYS.items()) + r"):(?: (?P<value>.*))?$",
    re.MULTILINE | re.IGNORECASE,
)
_OF_READS = frozenset([_PATH, _FIRST, _LIMIT, _LAST, _VIEW])
_OF_WRITES = frozenset([_PATH, _TEXT])
_OF_EDITS = frozenset([_PATH, _OLD, _NEW, _REPLACE_ALL])
_READS = make_regex(r"read|view|readfile|openfile|viewfile")
_WRITES = make_regex(r"write|writefile|create|createfile")
_EDITS = make_regex(r"edit|multiedit|update|strreplace|editfile|replace|insert\w*|notebookedit")
_EDITORS = make_regex(r"strreplace\w*tool|strreplaceeditor")
"""Tools that view, create and change files, depending on their `command`."""


def file_calls(tool: str, call: str) -> Iterator[FileCall]:
    """Yield the effects of a call on files."""
    if len(call) > LONGEST_FILE:
        return
    if "*** Begin Patch" in call:
        yield from parse_patch(call)
        return
    name = plain_name(tool)
    if _EDITORS.fullmatch(name):
        name = dict(_fields(call, frozenset([_COMMAND]))).get(_COMMAND, "").replace("_", "")
    if pattern := next((candidate for candidate in (_READS, _WRITES, _EDITS) if candidate.fullmatch(name)), None):
        file_call = {_READS: _reading, _WRITES: _writing, _EDITS: _parse_edit}[pattern](call)
        if file_call.path and "\n" not in file_call.path and "\0" not in file_call.path:
            yield file_call
        return
    command = work.command_of(call, 0, len(call))
    if shell := work.LISTED_SHELL.match(command):
        command = command[shell.end() :]
    yield from _by_a_command(command)
    yield from (FileEdit(call[low:high]) for low, high in work.changed(tool, call, 0, len(call)))


def plain_name(tool: str) -> str:
    """Return a tool's name in the form common to all hosts' spellings."""
    return tool.replace("_", "").casefold()


def _reading(call: str) -> Reading:
    arguments = dict(_fields(call, _OF_READS))
    numbers = [int(digits) for digits in re.findall(r"\d{1,9}", arguments.get(_VIEW, ""))]
    first = numbers[0] if numbers else _number(arguments.get(_FIRST))
    last = numbers[1] if len(numbers) > 1 else _number(arguments.get(_LAST))
    limit = _number(arguments.get(_LIMIT)) or max(0, last - max(first, 1) + 1)
    return Reading(arguments.get(_PATH, ""), first, limit)


def _number(text: str | None) -> int:
    return int(text) if text and re.fullmatch(r"\d{1,9}", text) else 0


def _writing(call: str) -> Writing | FileEdit:
    arguments = dict(_fields(call, _OF_WRITES))
    path = arguments.get(_PATH, "")
    return Writing(path, arguments[_TEXT]) if _TEXT in arguments else FileEdit(path)


def _parse_edit(call: str) -> FileEdit:
    arguments = list(_fields(call, _OF_EDITS))
    path = next((value for kind, value in arguments if kind == _PATH), "")
    everywhere = any(value.casefold() == "true" for kind, value in arguments if kind == _REPLACE_ALL)
    old = [value for kind, value in arguments if kind == _OLD][:_MOST_PIECES]
    new = [value for kind, value in arguments if kind == _NEW][:_MOST_PIECES]
    if len(old) != len(new):
        return FileEdit(path)
    return FileEdit(path, tuple(Piece(a, b, everywhere=everywhere) for a, b in zip(old, new, strict=True)))


def _fields(call: str, kinds: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the arguments of these kinds, in order: kind and value.

    A line of a value may look like another argument, so each is taken only once, except the two sides of an edit, which
    alternate.
    """
    at, open_kinds = 0, set(kinds)
    while match := _next(call, at, open_kinds):
        kind = _kind(match)
        open_kinds.discard(kind)
        open_kinds |= {_OLD: {_NEW}, _NEW: {_OLD}}.get(kind, set()) & kinds
        at = match.end()
        if match["value"] is not None or call[at : at + 1] != "\n":
            yield kind, match["value"] or ""
            continue
        next_match = _next(call, at + 1, open_kinds)
        if next_match is not None and next_match.start() == at + 1:  # an empty value, and the next argument
            yield kind, ""
            continue
        end = next_match.start() - 1 if next_match else len(call)
        value = call[at + 1 : end]
        yield kind, re.sub(r"(?:\A|\n) *-\s*\Z", "", value) if next_match and kind in (_OLD, _NEW) else value
        at = end


def _next(call: str, at: int, kinds: set[str]) -> re.Match[str] | None:
    return next((match for match in _FIELD.finditer(call, at) if _kind(match) in kinds), None)


def _kind(match: re.Match[str]) -> str:
    return next(kind for kind in _KEYS if match[kind] is not None)


# --- patches -----------------------------------------------------------------------------------------------

_FILE = make_regex(r"^\*\*\* (?P<how>Add|Update|Delete) File: (?P<path>.+?)\s*$")
_MOVE_HEADER = make_regex(r"^\*\*\* Move to: (?P<path>.+?)\s*$")


def parse_patch(call: str) -> Iterator[Writing | FileEdit]:
    """Yield the effects on files of a patch in Codex's format; a deleted file has none."""
    action, path = "", ""
    hunk: list[str] = []
    pieces: list[list[str]] = []
    for line in [*call.split("\n"), "*** End Patch"]:
        if header := _MOVE_HEADER.match(line):
            path = header["path"]
        elif line.startswith("*** "):
            if path and action != "Delete":
                yield _of_a_file(action, path, [*pieces, hunk])
            begins = _FILE.match(line)
            action, path = (begins["how"], begins["path"]) if begins else ("", "")
            hunk, pieces = [], []
        elif line.startswith("@@"):
            pieces.append(hunk)
            hunk = []
        else:
            hunk.append(line)


def _of_a_file(action: str, path: str, hunks: Sequence[Sequence[str]]) -> Writing | FileEdit:
    if action == "Add":
        return Writing(path, "".join(f"{line[1:]}\n" for hunk in hunks for line in hunk if line.startswith("+")))
    pieces = []
    for hunk in hunks:
        old = [line[1:] for line in hunk if not line.startswith("+")]
        new = [line[1:] for line in hunk if not line.startswith("-")]
        if any(line.startswith(("+", "-")) for line in hunk):
            pieces.append(Piece("\n".join(old), "\n".join(new), whole=True))
    return FileEdit(path, tuple(pieces[:_MOST_PIECES]))


# --- commands ----------------------------------------------------------------------------------------------

_ONE_FILE = r"(?P<path>'[^'\n]+'|\"[^\"\n$`]+\"|[\w./~@+-]+)"
_SHOW_COMMAND = make_regex(
    rf"(?:cd (?P<cd>[\w./~@+-]+) *&& *)?(?:cat(?P<numbered> -n)?|sed -n ['\"]?(?P<first>\d+),(?P<last>\d+)p['\"]?"
    rf"|head -n ?(?P<most>\d+)) {_ONE_FILE}"
)


def _by_a_command(command: str) -> Iterator[Reading]:
    """Yield the file, or the lines of it, that a command shows, if that is all the command does."""
    match = _SHOW_COMMAND.fullmatch(command.strip())
    if match is None:
        return
    path = match["path"].strip("'\"")
    path = f"{match['cd'].rstrip('/')}/{path}" if match["cd"] and not path.startswith(("/", "~")) else path
    first = int(match["first"] or 0)
    limit = int(match["most"] or (int(match["last"]) - first + 1 if match["last"] else 0))
    if limit >= 0:
        yield Reading(path, first, limit)


# --- results -----------------------------------------------------------------------------------------------

_LINE_NUMBER = make_regex(r"^ *(?P<n>\d{1,7})(?:→|\t|\| )(?P<line>.*)$")
_LOOSE_LINE_NUMBER = make_regex(r"^ *(?P<n>\d{1,7})(?:: |\. |:$|\.$)(?P<line>.*)$")
"""The forms in which hosts number lines. The second form is used only if the text is known to be numbered."""
_CONTENT_TAG = make_regex(r"<(?P<tag>file|content)>\n?(?P<body>.*?)(?:\n?</(?P=tag)>|\Z)", re.DOTALL)
_OF_CODEX = make_regex(
    r"\A(?:(?:Chunk ID|Wall time|Process exited|Exit code|Original token count|Total output).*\n)*Output:\n"
)
_CUT = make_regex(
    r"(?<!\n)\n*+[\[(](?:Showing (?:lines|\d)|\d+ more lines|Truncated|File has more lines|File content truncated"
    r"|Output capped)[^\n]{0,400}[\])]\s*+\Z"
    r"|\A(?:IMPORTANT: The file content has been truncated|\[File content truncated)"
    r"|\.\.\. ?\[\d+ (?:characters|lines) truncated\]|…\d+ (?:tokens|chars) truncated…"
)
"""Texts with which hosts mark that they show only a part of a file."""
_MARKS = make_regex(r"\[redacted:|\[private\]|█|\ufffd|… ?\[truncated\]|\.\.\. ?\(line truncated|\.\.\. ?\[truncated\]")
"""Marks at a line that differs from the line in the file."""
_PLAIN = frozenset(["read", "read_file", "view"])
"""Tools that show a file unchanged. Other tools number its lines, or add text about it."""


def read_excerpt(reading: Reading, tool: str, result: str) -> Excerpt | None:
    """Return the part of the file that a result shows; None if it shows something else."""
    if not result or len(result) > LONGEST_FILE:
        return None
    is_command = not _READS.fullmatch(plain_name(tool))
    if is_command and (head := _OF_CODEX.match(result)):
        result = result[head.end() :]
    wrapper = None if is_command else _CONTENT_TAG.search(result)
    body = wrapper["body"] if wrapper else result
    lines = _parse_numbered_lines(body, _LOOSE_LINE_NUMBER if wrapper or tool == "view" else None)
    if lines is None and not wrapper and (is_command or tool in _PLAIN):
        lines = _plain(reading, body)
    if not lines or not lines[1]:
        return None
    first, content_lines = lines
    limit = reading.limit
    is_cut = bool(_CUT.search(body)) or len(content_lines) >= _MOST_LINES
    if len(content_lines) > 1 and content_lines[-1] == "" and not is_command:
        content_lines = content_lines[:-1]  # as good as always what stands behind the end of the last line
    return Excerpt(first, tuple(map(clean_line, content_lines)), first == 1 and not limit and not is_cut)


def clean_line(line: str) -> str | None:
    """Return a line in the form used for comparison; None if part of the line is missing."""
    return None if len(line) >= _LONGEST_LINE or _MARKS.search(line) else line.rstrip("\r")


def _parse_numbered_lines(body: str, loose_pattern: re.Pattern[str] | None) -> tuple[int, list[str]] | None:
    """Return the consecutively numbered lines, from the first on."""
    first = 0
    lines: list[str] = []
    for line in body.split("\n"):
        match = _LINE_NUMBER.match(line) or (loose_pattern and loose_pattern.match(line))
        if match is None or (lines and int(match["n"]) != first + len(lines)):
            if lines or line.strip():
                break
            continue
        first = first if lines else int(match["n"])
        lines.append(match["line"])
    return (first, lines) if lines and first > 0 else None


def _plain(reading: Reading, body: str) -> tuple[int, list[str]]:
    content = _CUT.sub("", body) if not body.startswith(("IMPORTANT: The file", "[File content truncated")) else ""
    if not content:
        return 1, []
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    return max(reading.first, 1), lines[: reading.limit or None]
