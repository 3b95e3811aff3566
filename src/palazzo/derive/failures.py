"""What failed in a session, and what changed before the same thing passed: read from calls and results. Pure.

A failure is known by its target (what was run) and by its signature (what it said), neither of which holds what differs
from one time to the next. What changed are places: files that were edited, commands that were run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from palazzo.derive import digest_work as work
from palazzo.derive.digest_turns import Said
from palazzo.derive.digest_work import Place
from palazzo.model import Part

LINES = 3
"""Lines of an error that are quoted at most."""
_CHANGES = 8
"""Files, and commands, that are kept of what changed in between: the last ones."""
_LONGEST_COMMAND = 2_000
_LONGEST_RESULT = 100_000
"""Characters of a result that are read, from its end: that is where it says what came of it."""


class Target(NamedTuple):
    """What a command is about: its program, the subcommand and the file that it names. Empty where it has none."""

    program: str
    subcommand: str
    file: str


class Spot(NamedTuple):
    """Where words stand: an item's row, from, to."""

    item: int
    start: int
    end: int


class Failure(NamedTuple):
    """A command that failed. `passed` is where the same target passed later in the session, None where it never did."""

    target: Target | None
    signature: str
    command: Spot
    lines: tuple[Spot, ...]
    passed: Spot | None
    edited: tuple[Spot, ...]
    ran: tuple[Spot, ...]


# --- targets -----------------------------------------------------------------------------------------------

_SETTING_UP = re.compile(
    r"(?:cd|pushd|popd|export|set|source|\.|true|false|exit|sleep|mkdir|touch|pwd|date|:|wait|trap|ulimit|\$.*)\Z"
)
_AROUND = re.compile(r"(?:sudo|time|env|nohup|exec|command|npx|bunx|uvx|nice|stdbuf)\Z")
_RUNNERS = re.compile(r"(?:uv|poetry|pipenv|hatch|pdm|rye|bundle)\Z")
_SHELLS = frozenset(["bash", "sh", "zsh", "dash", "fish"])
_INTERPRETERS = _SHELLS | {"python", "node", "ruby", "perl", "deno", "bun", "php"}
_INLINE = frozenset(["-c", "-e", "-lc", "-", "--eval"])
_ASKING = frozenset(["--version", "--help", "-V"])
_SEPARATING = re.compile(r"[();&|]+\Z")
_EXTENSION = re.compile(r"(?:^|[\w)])\.[A-Za-z]\w{0,5}$")
_LISTED_SHELL = re.compile(r"- \S*sh\n\s*- -l?c\n\s*- (?:\|-?\n\s*)?")
"""How readers of histories render a command that a host gives as a list: Codex before 0.169."""
_NODE_ID = re.compile(r"(?:::.*|(?::\d+)+)$")


def target(command: str) -> Target | None:
    """Return what a command is about; None of one that only looks, sets up, or is a script of its own.

    Of several commands it is the last that does more: `cd api && npm ci && npm test | tail` is about `npm test`.
    """
    for words in reversed(list(_commands(command[:_LONGEST_COMMAND]))):
        words = _unwrapped(words)
        if not words or _SETTING_UP.match(words[0]) or work.only_looks(" ".join(words)) or _ASKING & {*words}:
            continue
        if _program(words[0]) in _SHELLS and len(words) > 2 and words[1] in _INLINE:
            return target(" ".join(words[2:]))  # quoted as one word, or a list that was joined
        return _target(words)
    return None


def covers(passed: Target, failed: Target) -> bool:
    """Whether a command that passes shows that another would: the same one, or one that names no single file."""
    return passed[:2] == failed[:2] and passed.file in ("", failed.file)


def _commands(command: str) -> Iterator[list[str]]:
    """Yield the words of each command of a line, without redirections; of a pipe those of its first."""
    words: list[str] = []
    piped = skipping = False
    for word in _words(command.replace("\n", " ; ")):
        if _SEPARATING.match(word):
            if words and not piped:
                yield words
            words, piped, skipping = [], word in ("|", "|&"), False
        elif skipping:
            skipping = False
        elif word and not set(word) - set("<>&|") and set(word) & set("<>"):
            skipping = True
            if words and words[-1].isdigit():
                words.pop()
        else:
            words.append(word)
    if words and not piped:
        yield words


def _words(command: str) -> list[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return list(lexer)
    except ValueError:  # a quote that nothing closes
        return command.split()


def _unwrapped(words: list[str]) -> list[str]:
    """Drop what stands before the program: variables, `sudo`, `uv run`; of `python -m x` that is x."""
    while words:
        if re.match(r"\w+=", words[0]) or _AROUND.match(words[0]):
            words = words[1:]
            while words and words[0].startswith("-"):
                words = words[1:]
        elif _leads_by_two(words):
            words = words[2:]
        else:
            break
    return words


def _leads_by_two(words: list[str]) -> bool:
    """Whether the program is the third word: `timeout 60 x`, `uv run x`, `python -m x`."""
    first, second, *_ = [*words, "", ""]
    if _RUNNERS.match(first):
        return second in ("run", "exec")
    return first == "timeout" or (_program(first) == "python" and second == "-m")


def _program(word: str) -> str:
    name = re.split(r"[/\\]", word)[-1].lower()
    return re.sub(r"^(python|ruby|perl|php|pip)[\d.]+$", r"\1", re.sub(r"\.(?:exe|cmd|bat|ps1)$", "", name))


def _target(words: list[str]) -> Target | None:
    program, rest = _program(words[0]), words[1:]
    subcommands: list[str] = []
    files: list[tuple[bool, str]] = []
    for before, word in zip([words[0], *rest], rest, strict=False):
        of_option = re.fullmatch(r"-\w|--[\w-]+", before) is not None
        if word.startswith("-") or "://" in word or " " in word or "\n" in word or re.match(r"\w+=", word):
            continue
        if path := _path(word):
            files.append((of_option, path))
        elif not of_option and re.fullmatch(r"[\w:@.-]+", word):
            subcommands.append(word)
    size = 2 if subcommands[:1] in (["run"], ["compose"], ["exec"]) else 1
    file = next((path for _, path in sorted(files, key=lambda one: one[0])), "")
    if program in _INTERPRETERS and (not file or _INLINE & {*rest}):
        return None
    subcommand = "" if program in _INTERPRETERS else " ".join(subcommands[:size])
    return Target(program, subcommand, file)


def _path(word: str) -> str:
    """A path's last two names, by which it is known from wherever it is named; empty of what is none."""
    plain = _NODE_ID.sub("", word).replace("\\", "/")
    if "/" not in plain and not _EXTENSION.search(plain):
        return ""
    return "/".join([name for name in plain.split("/") if name not in ("", ".", "..")][-2:])


# --- signatures --------------------------------------------------------------------------------------------

_COLOURS = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_PATHS = re.compile(r"(?:\b[A-Za-z]:)?[\w.@~+-]*(?:[/\\][\w.@~+-]+)+[/\\]?|\b[\w-]+\.[A-Za-z]\w{0,4}(?=:\d)")
_HEX = re.compile(r"\b0x[\da-fA-F]+\b|\b(?=[a-f-]*\d)[\da-f]{7,}(?:-[\da-f]{4,})*\b", re.IGNORECASE)
_NUMBERS = re.compile(r"\d+(?:[.,:_]\d+)*")
_TELLING_LETTERS = 8
"""Letters that an error must have left to be known again by: `Error: 3` is every error."""


def signature(line: str) -> str:
    """Return what stays of the line that says what failed: no numbers, paths, hexadecimal. Empty where too little."""
    plain = _COLOURS.sub("", line)
    for pattern, mark in ((_PATHS, "/"), (_HEX, "#"), (_NUMBERS, "#")):
        plain = pattern.sub(mark, plain)
    plain = " ".join(plain.split()).casefold()
    return plain if sum(map(str.isalpha, plain)) >= _TELLING_LETTERS else ""


def error_in(tool: str, command: str, text: str, start: int, end: int, failed: bool) -> list[Place]:
    """Return the lines of a result that say what failed, the most telling first; none if nothing did."""
    start = max(start, end - _LONGEST_RESULT)
    first = work.failure(tool, command, text, start, end, failed)
    if first is None:
        return []
    others = (place for place in work.telling_lines(text, start, end) if place != first)
    said = {text[first[0] : first[1]]}
    lines = [first]
    for low, high in others:
        if len(lines) < LINES and text[low:high] not in said:
            said.add(text[low:high])
            lines.append((low, high))
    return lines


# --- sessions ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Call:
    """A call that waits for its result: what it runs and which files it changes, by name."""

    tool: str
    command: str
    spot: Spot
    changes: dict[str, Spot]
    target: Target | None


@dataclass(slots=True)
class _Open:
    """A failure whose target has not passed yet, and what changed since."""

    call: _Call
    signature: str
    lines: tuple[Spot, ...]
    passed: Spot | None = None
    edited: dict[str, Spot] = field(default_factory=dict)
    ran: dict[str, Spot] = field(default_factory=dict)

    def closed(self) -> Failure:
        changes = [tuple(list(some.values())[-_CHANGES:]) for some in (self.edited, self.ran)]
        if self.passed is None:
            changes = [(), ()]
        return Failure(self.call.target, self.signature, self.call.spot, self.lines, self.passed, *changes)


def failures(messages: Sequence[Said]) -> list[Failure]:
    """Return the commands of a session that failed, in order; each once, however often it failed so in a row."""
    calls: dict[str, _Call] = {}
    last: _Call | None = None
    found: list[_Open] = []
    for message in messages:
        for part in message.parts:
            if part.kind == "tool_call":
                last = calls[part.call] = _call(message, part)
            elif part.kind == "tool_result" and (call := calls.get(part.call, last)):
                _take(found, call, message, part)
    return [one.closed() for one in found]


def _call(message: Said, part: Part) -> _Call:
    text = message.text
    low, high = work.command_place(text, part.start, part.end) or (part.start, part.start)
    if shell := _LISTED_SHELL.match(text, low, high):
        low = shell.end()
    changes = {text[a:b]: Spot(message.item, a, b) for a, b in work.changed(part.name, text, part.start, part.end)}
    command = text[low:high]
    return _Call(part.name, command, Spot(message.item, low, high), changes, target(command))


def _take(found: list[_Open], call: _Call, message: Said, part: Part) -> None:
    places = error_in(call.tool or part.name, call.command, message.text, part.start, part.end, part.failed)
    unmended = [one for one in found if one.passed is None]
    if places:
        said = signature(message.text[slice(*places[0])])
        again = any((one.call.target, one.signature) == (call.target, said) for one in unmended)
        if call.command and (call.target or said) and not again:
            found.append(_Open(call, said, tuple(Spot(message.item, *place) for place in places)))
        return
    if part.failed or work.is_declined(message.text[part.start : part.end]):
        return  # nothing ran, or it only did not find what it looked for
    for one in unmended:
        if call.target and one.call.target and covers(call.target, one.call.target):
            one.passed = Spot(message.item, part.start, part.end)
        elif call.changes:
            one.edited.update(call.changes)
        elif call.target:
            one.ran[call.command] = call.spot
