"""Work of a session's tools: changed files, failed commands, answers to questions, the to-do list.

Pure: reads calls and results as transcript readers render them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from palazzo.text.lazy_patterns import make_regex

Place = tuple[int, int]
"""Start and end in code points of a message; the end is exclusive."""


EDGE = 100_000
"""Characters that are read at the start and at the end of a long message or result: rules read 1 MB in some seconds,
and what stands between was pasted, or printed by a program.
"""


def stretches(text: str, start: int, end: int) -> tuple[Place, ...]:
    """Return what is read of a range: all of it, or the whole lines at its start and end if it is longer than both."""
    if end - start <= 2 * EDGE:
        return ((start, end),)
    first_end = text.rfind("\n", start, start + EDGE) + 1 or start + EDGE
    last_start = text.find("\n", end - EDGE, end - 1) + 1 or end - EDGE
    return (start, first_end), (last_start, end)


class Task(NamedTuple):
    """A line of an agent's to-do list."""

    text: str
    state: Literal["pending", "in_progress", "completed", "cancelled"]
    place: Place


_EDITS = make_regex(
    r"^(?:edit|write|multiedit|notebookedit|update|create|str_replace\w*|write_file|edit_file|create_file|replace"
    r"|apply_patch|insert\w*|delete_file|patch)$",
    re.IGNORECASE,
)
_PATH_FIELD = make_regex(
    r"^[ \t]*(?:file_?path|path|filename|notebook_path|target_file)\s*[:=]\s*['\"]?(.+)$",
    re.MULTILINE | re.IGNORECASE,
)
_READING = make_regex(r"^(?:read|view|read_file|notebookread|open_file)$", re.IGNORECASE)
_PATCH_HEADER = make_regex(r"^\*\*\* (?:Add|Update|Delete) File: (.*\S)", re.MULTILINE)
_COMMAND = make_regex(r"^(?:command|cmd|script)\s*[:=]\s*", re.MULTILINE)
LISTED_SHELL = make_regex(r"- \S*sh\n\s*- -l?c\n\s*- (?:\|-?\n\s*)?")
"""The form in which transcript readers render a command that a host gives as a list: Codex before 0.169."""
_NAME = r"(?P<path>[\w./~@+-]*[\w~@+-])"
_REDIRECTION = make_regex(
    rf"(?<![\d&=<>-])>>?\s*(?!&){_NAME}(?=\s*(?:$|;|&&|\|\||\n|<<))|\btee (?:-a )?{_NAME.replace('path', 'teed')}",
    re.MULTILINE,
)
_IN_PLACE = make_regex(r"\bsed -i\S*(?: -e)?\s+(?:'[^']*'|\"[^\"]*\"|\S+)\s+([\w./~@+-]*\w)")
_TEMPORARY_PATH = make_regex(r"^(?:/dev/|/tmp/|/var/tmp/|\$|&)")


def changed(tool: str, text: str, start: int, end: int) -> Iterator[Place]:
    """Yield the places where a call names the files that it changes."""
    call = text[start:end]
    if _EDITS.match(tool):
        yield from _path_field(text, start, end)
        yield from ((start + header.start(1), start + header.end(1)) for header in _PATCH_HEADER.finditer(call))
        return
    if _PATCH_HEADER.search(call):
        yield from ((start + header.start(1), start + header.end(1)) for header in _PATCH_HEADER.finditer(call))
        return
    command = _COMMAND.search(call)
    if command is None:
        return
    for match in _REDIRECTION.finditer(_without_quotes(call), command.end()):
        group = "path" if match["path"] else "teed"
        if not _TEMPORARY_PATH.match(match[group]) and re.search(r"[^\W\d]", match[group]):
            yield start + match.start(group), start + match.end(group)
    for match in _IN_PLACE.finditer(call, command.end()):
        yield start + match.start(1), start + match.end(1)


def find_accessed_files(tool: str, text: str, start: int, end: int) -> Iterator[Place]:
    """Yield the places where a call names the files that it reads or changes."""
    if _READING.match(tool):
        yield from _path_field(text, start, end)
        return
    yield from changed(tool, text, start, end)


def _path_field(text: str, start: int, end: int) -> Iterator[Place]:
    """Yield the place of the first path that a field of a call names, without the quote behind it."""
    match = _PATH_FIELD.search(text, start, end)
    if match is None:
        return
    path = match[1].rstrip()
    if len(path) > 1 and path[-1] in "'\"":
        path = path[:-1]
    yield match.start(1), match.start(1) + len(path)


def _without_quotes(call: str) -> str:
    """Blank out quoted text and here-documents: a `>` there writes nothing."""
    blank = lambda match: match[0][0] + " " * (len(match[0]) - 2) + match[0][-1]  # noqa: E731
    return re.sub(r"'[^'\n]*'|\"(?:[^\"\\\n]|\\.)*\"", blank, call)


# --- failures ------------------------------------------------------------------------------------------------

_ERROR_SIGN = make_regex(
    r"(?:\b[\w.]{0,120}(?:Error|Exception|Failure)\b\s*[:(]|^[^\S\n]*(?:error|ERROR|fatal|Fatal|FATAL|FAILED|FAIL|FAILURE"
    r"|panic|Panic|not ok|✗|✕|✖|×)|\bpanicked at\b|Traceback|\bOOMKilled\b"
    r"|\bFatal(?: error)?:|\berror(?:\[\w+\])?: |\"error\"\s*:\s*\"|Segmentation fault|core dumped|command not found"
    r"|No such file|Permission denied|undefined symbol|Connection refused|timed out|BR-[A-Z]+-\d+"
    r"|\bAssertionError\b|\bassert(?:ion)?\b.*(?:failed|==)|\bFailed with result\b|npm ERR!)",
    re.MULTILINE,
)
_SURE = make_regex(
    r"^(?:Error|ERROR|error|Fatal|FATAL|fatal|panic|FAILED|FAIL|not ok)\b[:\s]|Traceback \(most recent call last\)"
    r"|\bpanicked at\b|\bOOMKilled\b|^[^\S\n]*\{\"error\"\s*:\s*\"|\bFatal: |\bSegmentation fault\b"
    r"|\bHTTP/[\d.]+ 5\d\d\b|\b5\d\d (?:Internal|Bad Gateway|Service)|CrashLoopBackOff|ImagePullBackOff"
    r"|\bexited with code [1-9]|^[^\S\n]*\d+ failing|# fail [1-9]|npm ERR!|error TS\d+|error\[E\d+\]"
    r"|\bE(?:NOENT|CONNREFUSED|TIMEDOUT|ADDRINUSE|ACCES)\b|deadlock detected|\bSIG(?:SEGV|KILL|ABRT)\b|\bpanic: "
    r"|\bcurl: \(\d+\)|undefined method|undefined reference|^[^\S\n]*[✗✖✕×] "
    r"|\bUncaught \w*(?:Error|Exception)\b|^\w*(?:Error|Exception): |\bFailures: [1-9]|\b[1-9]\d* failed\b",
    re.MULTILINE,
)
_SUMMARY = make_regex(r"\bTests: \d|\b\d+ (?:failed|passed|errors?)\b|\bFailures: \d|Failed with result")
_HEAD = make_regex(
    r"^(?:Exit code \d+|Chunk ID: .*|Wall time: .*|Process exited with code \d+|Original token count: .*|Output:"
    r"|Total output lines: .*|<\w+>|=+.*=+)$"
)
_INSPECTION_COMMAND = make_regex(
    r"^(?:cd [^;&]+(?:&&|;)\s*)?(?:sudo )?(?:grep|rg|ag|cat|less|head|tail|sed -n|find|ls|which|test|diff"
    r"|git (?:diff|log|show|grep|status|blame)|echo|printf|wc|stat|awk)\b"
)
_REFUSAL = make_regex(
    r"(?:user (?:doesn't want|rejected|declined|denied)|Request interrupted|tool use was rejected"
    r"|has not been read yet|<tool_use_error>|InputValidationError|was modified)",
    re.IGNORECASE,
)
_SAID_ERROR = make_regex(
    r"^.*(?:\b(?:\w{1,60}\.){0,6}\w{1,80}(?:Error|Exception)\b: \S|\bOOMKilled\b|\bSegmentation fault\b|\bsegfaults?\b"
    r"|\bpanicked at\b|^Traceback \(|\b[Ee]xit code [1-9]|\bHTTP 5\d\d\b|\bcrash(?:es|ed) with\b|\bE(?:NOENT"
    r"|CONNREFUSED|TIMEDOUT|ADDRINUSE)\b).*$",
    re.MULTILINE,
)
_READING_TOOLS = make_regex(
    r"^(?:read|grep|glob|ls|search\w*|view|webfetch|websearch|toolsearch|read_file|list_dir\w*|todowrite|task|agent)$",
    re.IGNORECASE,
)


def failure(tool: str, command: str, text: str, start: int, end: int, failed: bool) -> Place | None:
    """Return the line of a result that states the failure, if it failed; a command that only searched did not."""
    places = stretches(text, start, end)
    results = [text[slice(*place)] for place in places]
    if _READING_TOOLS.match(tool) or any(map(_REFUSAL.search, results)):
        return None
    if not failed and (only_looks(command) or not any(map(_SURE.search, results))):
        return None
    lines = [
        (low + at, line)
        for (low, _), result in zip(places, results, strict=True)
        for at, line in _lines(result)
        if line.strip() and not _HEAD.match(line.strip())
    ]
    if failed and only_looks(command) and not any(_ERROR_SIGN.search(line) for _, line in lines):
        return None
    if not lines:
        return None
    single = [entry for entry in lines if not _SUMMARY.search(entry[1])]
    error_entries = (
        entry
        for pattern, entries in ((_SURE, single), (_ERROR_SIGN, single), (_SURE, lines))
        for entry in entries
        if pattern.search(entry[1])
    )
    at, line = next(error_entries, lines[0])
    if line.startswith("Traceback"):  # the last line says what it was
        at, line = next((entry for entry in reversed(lines) if _ERROR_SIGN.search(entry[1])), (at, line))
    return _trim_line(line, at)


def telling_lines(text: str, start: int, end: int) -> Iterator[Place]:
    """Yield the lines of a failed result that describe the failure, in order, without summaries of results."""
    for at, line in _lines(text[start:end]):
        if _ERROR_SIGN.search(line) and not _SUMMARY.search(line) and not line.startswith("Traceback"):
            yield _trim_line(line, start + at)


def is_declined(result: str) -> bool:
    """Return whether a call was not carried out: it was declined, or could not be run."""
    return _REFUSAL.search(result) is not None


def only_looks(command: str) -> bool:
    """Return whether a command only reads existing text; what it reads in a log counts as events."""
    return _INSPECTION_COMMAND.match(command) is not None and re.search(r"\blogs?\b", command) is None


def said_failure(text: str, start: int, end: int) -> Place | None:
    """Return the line in which a person reports an error."""
    matches = (_SAID_ERROR.search(text, *place) for place in stretches(text, start, end))
    return next((_trim_line(match[0], match.start()) for match in matches if match is not None), None)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    for line in text.splitlines(keepends=True):
        yield at, line.rstrip("\n")
        at += len(line)


def _trim_line(line: str, at: int) -> Place:
    words = line.strip()
    low = at + len(line) - len(line.lstrip())
    return low, low + min(len(words), 300)


def command_of(text: str, start: int, end: int) -> str:
    """Return the command that a call runs, empty if it runs none."""
    place = command_place(text, start, end)
    return "" if place is None else text[place[0] : place[1]]


def command_place(text: str, start: int, end: int) -> Place | None:
    """Return where the command of a call is; None if it runs none."""
    match = _COMMAND.search(text, start, end)
    if match is None:
        return None
    words = text[match.end() : end].split("\ndescription:")[0]
    low = match.end() + len(words) - len(words.lstrip())
    return low, low + len(words.strip())


def program(command: str) -> str:
    """Return the key of a command for comparing runs: its program and the first plain argument."""
    last = re.split(r"&&|;|\|\|", command)[0] if not command.startswith("cd ") else re.split(r"&&|;", command)[-1]
    words = [word for word in last.split() if not word.startswith("-") and "=" not in word]
    return " ".join(words[:2])


# --- questions and lists ---------------------------------------------------------------------------------------

_QUESTION_ANSWER = make_regex(r"\"([^\"\n]{3,400})\"\s*=\s*\"([^\"\n]{1,400})\"")
_TASKS = make_regex(
    r"(?:content|step|text|description): (?P<a>.+)\n(?:\s+(?:activeForm|priority|id): .+\n)*\s+status: (?P<sa>\w+)"
    r"|status: (?P<sb>\w+)\n\s+(?:content|step): (?P<b>.+)"
)
_LISTS = make_regex(r"^(?:todowrite|todo_write|update_plan|write_todos|todo)$", re.IGNORECASE)


def answers(text: str, start: int, end: int) -> Iterator[Place]:
    """Yield the question and answer of each question that an agent asked with its question tool."""
    if "answered" in text[start : start + 80]:
        yield from (match.span() for match in _QUESTION_ANSWER.finditer(text, start, end))


def tasks(tool: str, text: str, start: int, end: int) -> list[Task]:
    """Return the list of to-dos that a call writes; empty for every other call."""
    if not _LISTS.match(tool):
        return []
    task_list = []
    for match in _TASKS.finditer(text, start, end):
        name, state = ("a", "sa") if match["a"] else ("b", "sb")
        status = match[state] if match[state] in ("pending", "in_progress", "completed") else "cancelled"
        task_list.append(Task(match[name].strip(), status, match.span(name)))  # type: ignore[arg-type]
    return task_list
