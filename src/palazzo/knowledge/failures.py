"""Failures of a session, and the changes before the same target passed: read from calls and results. Pure.

A failure is identified by its target (what was run) and by its signature (its error message); neither contains what
differs from one run to the next. A failed edit is identified by both together, since the error messages of edits are
always the same. Changes are recorded as places: files that were edited, commands that were run. No line of untrusted
content is kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from palazzo.index import digest_work as work
from palazzo.index.digest_work import Place
from palazzo.model import Part
from palazzo.sessions.call_targets import Aim, Step, Target, covers, is_edit, may_cover, steps, tool_target
from palazzo.sessions.digest_turns import SessionMessage
from palazzo.text.lazy_patterns import make_regex

LINES = 3
"""Maximum number of lines of an error that are quoted."""
_CHANGES = 8
"""Maximum number of changed files, and of commands, that are kept between failure and fix: the last ones."""
_LONGEST_CALL = 200
"""Maximum characters of a call that is not a command, from its beginning."""
_LONGEST_RESULT = 100_000
"""Maximum characters of a result that are read, from its end: the outcome is there."""


class Spot(NamedTuple):
    """Location of words: an item's row id, start and end."""

    item: int
    start: int
    end: int


class Failure(NamedTuple):
    """A call that failed, and the result that reports it.

    `passed` is the result of the same target that passed later in the session, or None if it never did; `passed_as` is
    the later call if it differs. `is_known` is False if `passed` is None but a later line of several commands may have
    passed it.
    """

    target: Target | None
    signature: str
    command: Spot
    result: Spot
    lines: tuple[Spot, ...]
    passed: Spot | None
    passed_as: Spot | None
    edits: tuple[Spot, ...]
    ran: tuple[Spot, ...]
    is_known: bool = True


# --- signatures --------------------------------------------------------------------------------------------

_COLOURS = make_regex(r"\x1b\[[\d;]*[A-Za-z]")
_PATHS = make_regex(r"(?:\b[A-Za-z]:)?[\w.@~+-]*(?:[/\\][\w.@~+-]+)+[/\\]?|\b[\w-]+\.[A-Za-z]\w{0,4}(?=:\d)")
_HEX = make_regex(r"\b0x[\da-fA-F]+\b|\b(?=[a-f-]*\d)[\da-f]{7,}(?:-[\da-f]{4,})*\b", re.IGNORECASE)
_NUMBERS = make_regex(r"\d+(?:[.,:_]\d+)*")
_TELLING_LETTERS = 8
"""Minimum letters that must remain of an error for it to be recognized: `Error: 3` matches every error."""


def signature(line: str) -> str:
    """Return the failure line without numbers, paths and hexadecimal; empty if too little is left."""
    plain = _COLOURS.sub("", line)
    for pattern, mark in ((_PATHS, "/"), (_HEX, "#"), (_NUMBERS, "#")):
        plain = pattern.sub(mark, plain)
    plain = " ".join(plain.split()).casefold()
    return plain if sum(map(str.isalpha, plain)) >= _TELLING_LETTERS else ""


def error_in(tool: str, command: str, text: str, start: int, end: int, failed: bool) -> list[Place]:
    """Return the lines of a result that state the failure, the most specific first; none if nothing failed.

    A call without a command has failed only if its host says so: a page about errors is no failure.
    """
    start = max(start, end - _LONGEST_RESULT)
    if not command and not failed:
        return []
    if not command and is_edit(tool):
        return _refused_edit(text[start:end], start)
    first = work.failure(tool, command, text, start, end, failed)
    if first is None:
        return []
    places = (place for place in work.telling_lines(text, start, end) if place != first)
    line_texts = {text[first[0] : first[1]]}
    lines = [first]
    for low, high in places:
        if len(lines) < LINES and text[low:high] not in line_texts:
            line_texts.add(text[low:high])
            lines.append((low, high))
    return lines


_BY_A_PERSON = make_regex(
    r"user (?:doesn't want|rejected|declined|denied)|Request interrupted|tool use was rejected", re.I
)
_ERROR_LINE = make_regex(r"\s*+(?:<tool_use_error>\s*+)?(?P<line>[^\n<]{1,300})")


def _refused_edit(result: str, at: int) -> list[Place]:
    """Return the line in which a host says why a file could not be changed; none if a person refused."""
    match = None if _BY_A_PERSON.search(result) else _ERROR_LINE.match(result)
    if match is None or not match["line"].strip():
        return []
    return [(at + match.start("line"), at + match.start("line") + len(match["line"].rstrip()))]


def failure_marks(tool: str, target: Target | None, line: str) -> tuple[Target | None, str]:
    """Return the target and the signature by which a failure is recognised later."""
    error_signature = signature(line)
    if target is not None and is_edit(tool):
        return None, f"{target.file}\0{error_signature}" if error_signature else ""
    return target, error_signature


# --- sessions ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Call:
    """A call without a result yet: its display text, its command, and the files that it changes or reads, by name."""

    tool: str
    text: str
    command: str
    spot: Spot
    changes: dict[str, Spot]
    steps: Sequence[Step]
    reads: str = ""

    @property
    def aim(self) -> Aim | None:
        """Return the target of the last command of the line."""
        return self.steps[-1].aim if self.steps else None


@dataclass(slots=True)
class _Open:
    """A failure whose target has not passed yet, and the changes since then."""

    call: _Call
    target: Target | None
    signature: str
    result: Spot
    lines: tuple[Spot, ...]
    passed: Spot | None = None
    passed_as: Spot | None = None
    edits: dict[str, Spot] = field(default_factory=dict)
    ran: dict[str, Spot] = field(default_factory=dict)
    may_have_passed: bool = False

    def build_failure(self) -> Failure:
        edits, runs = (tuple(list(spots.values())[-_CHANGES:]) for spots in (self.edits, self.ran))
        has_passed = self.passed is not None
        return Failure(
            self.target,
            self.signature,
            self.call.spot,
            self.result,
            self.lines,
            self.passed,
            self.passed_as,
            edits if has_passed else (),
            runs if has_passed else (),
            has_passed or not self.may_have_passed,
        )


def failures(messages: Sequence[SessionMessage]) -> list[Failure]:
    """Return the failed calls of a session, in order; each once, however often it failed in a row."""
    calls: dict[str, _Call] = {}
    last: _Call | None = None
    failure_records: list[_Open] = []
    for message in messages:
        for part in message.parts:
            if part.kind == "tool_call":
                last = calls[part.call] = _call(message, part)
            elif part.kind == "tool_result" and (call := calls.get(part.call, last)):
                _take(failure_records, call, message, part)
    return [record.build_failure() for record in failure_records]


def _call(message: SessionMessage, part: Part) -> _Call:
    text = message.text
    changes = {text[a:b]: Spot(message.item, a, b) for a, b in work.changed(part.name, text, part.start, part.end)}
    place = None if is_edit(part.name) else work.command_place(text, part.start, part.end)
    if place is None:
        return _call_without_command(message, part, changes)
    low, high = place
    if shell := work.LISTED_SHELL.match(text, low, high):
        low = shell.end()
    command = text[low:high]
    return _Call(part.name, command, command, Spot(message.item, low, high), changes, steps(command))


def _call_without_command(message: SessionMessage, part: Part, changes: dict[str, Spot]) -> _Call:
    """Return an edit, up to the end of the file's name; a file that is read; or another tool's arguments."""
    file, end = "", min(part.end, part.start + _LONGEST_CALL)
    if changes and is_edit(part.name):
        file, spot = next(iter(changes.items()))
        end = spot.end if spot.end - part.start <= _LONGEST_CALL else end
    target = tool_target(part.name, file)
    reads = next(
        (
            message.text[low:high]
            for low, high in work.find_accessed_files(part.name, message.text, part.start, part.end)
        ),
        "",
    )
    call_steps = [] if target is None else [Step(Aim(target, frozenset([target.file])))]
    text, spot = message.text[part.start : end], Spot(message.item, part.start, end)
    return _Call(part.name, text, "", spot, changes, call_steps, "" if changes else reads)


def _take(failure_records: list[_Open], call: _Call, message: SessionMessage, part: Part) -> None:
    places = error_in(call.tool or part.name, call.command, message.text, part.start, part.end, part.failed)
    open_failures = [failure for failure in failure_records if failure.passed is None]
    for failure in open_failures:
        has_failed = bool(places) or part.failed
        failure.may_have_passed = failure.may_have_passed or _may_have_passed(failure, call, has_failed)
    result = Spot(message.item, part.start, part.end)
    if places:
        call_target = None if call.aim is None else call.aim.target
        target, signature = failure_marks(call.tool, call_target, message.text[slice(*places[0])])
        is_repeated = any((failure.call.aim, failure.signature) == (call.aim, signature) for failure in open_failures)
        if (call_target if not call.command else call_target or signature) and not is_repeated:
            lines = () if part.trust == "external" else tuple(Spot(message.item, *place) for place in places)
            failure_records.append(_Open(call, target, signature, result, lines))
        return
    if part.failed or work.is_declined(message.text[part.start : part.end]):
        return  # nothing ran, or it only did not find what it looked for
    for failure in open_failures:
        _follow(failure, call, result, message.text)


def _may_have_passed(failure: _Open, call: _Call, has_failed: bool) -> bool:
    """Return whether a command of a later call may have passed a command of the call that failed.

    If the later call failed as well, only its last command is certain not to have passed.
    """
    later_steps = call.steps[:-1] if has_failed else call.steps
    failed_aims = [step.aim for step in failure.call.steps if step.aim is not None]
    return any(step.aim is not None and may_cover(step.aim, aim) for step in later_steps for aim in failed_aims)


def _follow(failed: _Open, call: _Call, result: Spot, text: str) -> None:
    """Record what a passed call means for a failure: it is fixed, or this is a change in between."""
    file = next(iter(failed.call.changes), "") if is_edit(failed.call.tool) else ""
    aim = failed.call.aim
    if any(step.aim and step.is_sure and aim and covers(step.aim, aim) for step in call.steps):
        failed.passed = result
        if call.text.split() != failed.call.text.split():
            failed.passed_as = call.spot
    elif file:
        if call.reads == file:
            failed.ran[call.reads] = call.spot
    elif call.changes:
        failed.edits.update(call.changes)
    elif call.aim and call.command:
        failed.ran[call.command] = call.spot
