"""Terminal output of blame, files, fix, how and friction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from palazzo.features.screen import INDENT, Screen
from palazzo.security.display_names import quoted_name, shown_name
from palazzo.text.count_phrases import count_noun
from palazzo.text.times import to_iso

if TYPE_CHECKING:  # each result's own module alone is loaded, by whoever made it
    from palazzo.features.code.contract import (
        BlameResult,
        FileDecision,
        FileNote,
        FileSession,
        FilesResult,
        FixResult,
        FrictionResult,
        HowResult,
        PastFailure,
        RecurringFailure,
        TopicFile,
        WorkingCommand,
    )
    from palazzo.model import Micros

_ID = 12
"""Characters of an id that are shown: 'palazzo show' and 'palazzo digest' accept a prefix."""
_LONGEST, _LONGEST_NOTE = 160, 400
"""Maximum characters of a command or an error line, and of a note or a decision."""
_HOUR, _MINUTE = 3_600_000_000, 60_000_000
_OUTCOMES = {"fixed": "green", "not fixed": "red", "unknown": "yellow"}


def _day(at: Micros) -> str:
    return to_iso(at)[:10] if at else "undated"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _short(text: str, longest: int = _LONGEST) -> str:
    """Return recorded words on one line."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest].rstrip()}…"


def _facts(screen: Screen, *facts: str, indent: str = INDENT) -> None:
    """Write a dim line of facts about the entry above, without empty ones."""
    screen.say((indent + "  ".join(filter(None, facts)), "dim"), wrap_indent=len(indent))


def _summary(screen: Screen, count: str, visible: int, total: int, wing: str | None) -> None:
    of_all = f" of {total:,}" if total > visible else ""
    place = f" in {shown_name(wing)}" if wing else " in all wings"
    screen.say((f"{count}{of_all}{place}", "dim"))


def _heading(screen: Screen, heading: str) -> None:
    screen.say((heading, "bold"))


# --- blame -------------------------------------------------------------------------------------------------


def blame(screen: Screen, result: BlameResult) -> None:
    """Show the file, its sessions, the decisions about it and the notes on it."""
    place = result.path if result.line is None else f"{result.path}:{result.line}"
    if result.advice:
        screen.say((result.advice, "yellow"), wrap_indent=0)
        return
    screen.say((place, "bold cyan"), (f"  {shown_name(result.wing)}" if result.wing else "", "dim"))
    if result.line_text:
        screen.say(f"{INDENT}{_short(result.line_text)}", wrap_indent=len(INDENT))
    if result.unattributed:
        screen.say((f"{INDENT}Not attributed by its text: {result.unattributed}.", "yellow"), wrap_indent=len(INDENT))
    if result.sessions:
        screen.gap()
        _heading(screen, "Sessions")
    for session in result.sessions:
        _session(screen, session)
    if result.decisions:
        screen.gap()
        _heading(screen, "Decisions")
    for decision in result.decisions:
        _decision(screen, decision)
    if result.notes:
        screen.gap()
        _heading(screen, "Notes that cite it")
    for note in result.notes:
        _note(screen, note)
    if result.commits:
        screen.gap()
        _heading(screen, "Commit that wrote the line" if result.line is not None else "Commits")
    for commit in result.commits:
        screen.say(f"{INDENT}{_short(commit_message(commit.text), _LONGEST_NOTE)}", wrap_indent=len(INDENT))
        _facts(screen, commit.author, _day(commit.at), commit.commit[:_ID], commit.id[:_ID], indent=INDENT * 2)
    screen.gap()
    _summary(screen, count_noun(len(result.sessions), "session"), len(result.sessions), result.total, result.wing)
    if result.unlocated:
        sessions = count_noun(result.unlocated, "more session")
        screen.say((f"{sessions} edited the file at lines that are not known.", "dim"))
    screen.say(("palazzo show ID shows an entry in its context.", "dim"))


def commit_message(text: str) -> str:
    """Return an archived commit without its first line, which has the hash."""
    return text.partition("\n\n")[2]


def _session(screen: Screen, session: FileSession) -> None:
    lines = f" ({_lines(session.lines)})" if session.lines else ""
    how = ", ".join(f"{how}{lines}" if how == "edited" else how for how in session.how)
    screen.say(f"{INDENT}{_day(session.last_at)}  ", (how, "green" if "edited" in session.how else ""))
    if session.reason:
        _facts(screen, f"{session.certainty}: {session.reason}", indent=INDENT * 2)
    title = quoted_name(session.title) if session.title else "untitled"
    _facts(screen, title, indent=INDENT * 2)
    _facts(
        screen, session.host, f"session {session.session[:_ID]}", session.drawer[:_ID], session.label, indent=INDENT * 2
    )


def _lines(ranges: Sequence[str]) -> str:
    is_one = len(ranges) == 1 and ranges[0].isdigit()
    return f"line {ranges[0]}" if is_one else f"lines {', '.join(ranges)}"


def _decision(screen: Screen, decision: FileDecision) -> None:
    screen.say(f"{INDENT}{_short(decision.text, _LONGEST_NOTE)}", wrap_indent=len(INDENT))
    untrusted = "untrusted" if decision.trust == "external" else ""
    _facts(screen, ", ".join(decision.links), indent=INDENT * 2)
    _facts(screen, decision.by, _day(decision.at), decision.id[:_ID], untrusted, indent=INDENT * 2)


def _note(screen: Screen, note: FileNote) -> None:
    screen.say(f"{INDENT}{_short(note.text, _LONGEST_NOTE)}", wrap_indent=len(INDENT))
    lines = _lines(note.lines) if note.lines else ""
    untrusted = "untrusted" if note.trust == "external" else ""
    superseded = "superseded" if note.is_superseded else ""
    facts = note.author, note.filed_as, _day(note.at), lines, note.id[:_ID], note.label, untrusted, superseded
    _facts(screen, *facts, indent=INDENT * 2)
    if note.remark:
        screen.say((f"{INDENT * 2}{note.remark}", "yellow"), wrap_indent=2 * len(INDENT))


# --- files -------------------------------------------------------------------------------------------------


def files(screen: Screen, result: FilesResult) -> None:
    """Show files, the most relevant first; then those that only belong to the same sessions."""
    if result.advice:
        screen.say((result.advice, "yellow"), wrap_indent=0)
        return
    for file in result.files:
        if file.exchanges:
            _file(screen, file, result.wing)
    beside = [file for file in result.files if not file.exchanges]
    if beside:
        screen.say(("Edited in the same sessions", "bold"))
    for file in beside:
        _file(screen, file, result.wing)
    screen.gap()
    _summary(screen, count_noun(len(result.files), "file"), len(result.files), result.total, result.wing)


def _file(screen: Screen, file: TopicFile, wing: str | None) -> None:
    screen.say((file.path, "cyan"), f"  {', '.join(file.how)}")
    _facts(
        screen,
        "" if wing else shown_name(file.wing),
        count_noun(file.exchanges, "hit") if file.exchanges else "",
        count_noun(len(file.sessions), "session") if file.sessions else "",
        _day(file.last_at),
        file.drawer[:_ID],
    )


# --- fix and friction --------------------------------------------------------------------------------------


def fix(screen: Screen, result: FixResult) -> None:
    """Show earlier failures with the error, and what fixed them."""
    if result.advice:
        screen.say((result.advice, "yellow"), wrap_indent=0)
        return
    if result.match == "similar":
        screen.say(("This error is not recorded. These are similar:", "yellow"))
        screen.gap()
    for failure in result.failures:
        _failure(screen, failure)
        screen.gap()
    noun = "earlier failure"
    _summary(screen, count_noun(len(result.failures), noun), len(result.failures), result.total, result.wing)


def friction(screen: Screen, result: FrictionResult) -> None:
    """Show what fails again and again, and an example of each."""
    if result.advice:
        screen.say((result.advice, "yellow"), wrap_indent=0)
        return
    for group in result.groups:
        _group(screen, group)
        screen.gap()
    noun = "recurring failure"
    _summary(screen, count_noun(len(result.groups), noun), len(result.groups), result.total, result.wing)


def _group(screen: Screen, group: RecurringFailure) -> None:
    example = group.example
    is_error = group.kind == "error" and example.error
    screen.say((_short(example.error[0] if is_error else example.command), "bold"), wrap_indent=len(INDENT))
    fixed = "no fix recorded" if not group.fixed else "always fixed" if group.fixed == group.failures else ""
    fixed = fixed or f"fixed {group.fixed:,} of {_times(group.failures)}"
    count = (
        f"failed {_times(group.failures)}"
        if group.kind == "error"
        else f"failed {group.failures:,} times in several ways"
    )
    sessions = count_noun(group.sessions, "session")
    screen.say(
        f"{INDENT}{count} in {sessions}, last on {_day(group.last_at)}, ",
        (fixed, "red" if not group.fixed else "green"),
        wrap_indent=len(INDENT),
    )
    if is_error:
        screen.say(f"{INDENT}command: {_short(example.command)}", wrap_indent=2 * len(INDENT))
    _changes(screen, example)
    _facts(screen, f"session {example.session[:_ID]}", example.id[:_ID], example.label)


def _failure(screen: Screen, failure: PastFailure) -> None:
    screen.say((f"$ {_short(failure.command)}", "bold"), wrap_indent=len(INDENT))
    for line in failure.error:
        screen.say((f"{INDENT}{_short(line)}", "red"), wrap_indent=2 * len(INDENT))
    passed = f" {_later(failure.passed_at - failure.failed_at)}" if failure.passed_at is not None else ""
    words = {"unknown": "whether it was fixed is not known", "not fixed": "not fixed in that session"}
    screen.say((f"{INDENT}{words.get(failure.outcome, 'fixed')}{passed}", _OUTCOMES[failure.outcome]))
    _changes(screen, failure)
    times = _times(failure.times) if failure.times > 1 else ""
    _facts(screen, _day(failure.failed_at), f"session {failure.session[:_ID]}", failure.id[:_ID], times, failure.label)


def _changes(screen: Screen, failure: PastFailure) -> None:
    """Write what was changed between a failure and its fix, one change a line."""
    changes: Iterable[tuple[str, Sequence[str]]] = (
        ("edited", failure.edited),
        ("ran", failure.ran),
        ("passed as", (failure.passed_as,) if failure.passed_as else ()),
    )
    for name, entries in changes:
        for entry in entries:
            screen.say(f"{INDENT}{name}: {_short(entry)}", wrap_indent=2 * len(INDENT))


def _later(span: int) -> str:
    """Return a time span in words."""
    if span >= 2 * _HOUR:
        return f"{span // _HOUR:,} hours later"
    return f"{span // _MINUTE} minutes later" if span >= 2 * _MINUTE else "soon after"


# --- how ---------------------------------------------------------------------------------------------------


def how(screen: Screen, result: HowResult) -> None:
    """Show commands that worked, each with its counts."""
    if result.advice:
        screen.say((result.advice, "yellow"), wrap_indent=0)
        return
    for command in result.commands:
        _command(screen, command, result.wing)
    screen.gap()
    _summary(screen, count_noun(len(result.commands), "command"), len(result.commands), result.total, result.wing)
    if result.failed_only:
        screen.say((f"{count_noun(result.failed_only, 'run')} of commands that never passed are left out.", "dim"))


def _command(screen: Screen, command: WorkingCommand, wing: str | None) -> None:
    screen.say((f"$ {_short(command.command)}", "bold"), wrap_indent=len(INDENT))
    failed = f", failed {_times(command.failed)}" if command.failed else ""
    status = "" if command.exit_status is None else f"exit status {command.exit_status}"
    _facts(
        screen,
        f"worked {_times(command.worked)}{failed}",
        f"last on {_day(command.last_at)}",
        status,
        "" if wing else shown_name(command.wing),
        command.host,
        command.id[:_ID],
    )
