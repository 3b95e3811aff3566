"""The tools blame, files, fix, how and friction: what sessions know about files, errors and commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from palazzo.features.code.contract import (
    BlameResult,
    FileCommit,
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
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import LIST, NOTICE, TEXT, minute, present_fields, rows, shape, shorten
from palazzo.security.display_names import plain_name
from palazzo.text.count_phrases import count_noun

_LONGEST, _LONGEST_NOTE = 300, 1_000
"""Maximum characters of a command, a path or an error line, and of a note or a decision."""


_SCOPE = (
    Argument("wing", "A project other than this one."),
    Argument("everywhere", "All projects."),
    Argument("since", "From this time: 2026-03-04, 3d, monday."),
    Argument("until", "Before then."),
    Argument("limit", schema={"minimum": 1, "maximum": 50}),
    Argument("include_external", "Also untrusted content, such as web pages.", "external", default=False),
)


def _short(text: str, longest: int = _LONGEST) -> str:
    """Return recorded words on one line, so that no line of them looks like the head of an entry."""
    return shorten(" ".join(text.split()), longest)


def _wing(wing: str | None) -> str:
    return f" in {plain_name(wing)}" if wing else " in all projects"


def _session(view: FileSession) -> dict[str, Any]:
    return present_fields(
        id=view.drawer,
        when=minute(view.last_at),
        kind="session",
        session=view.session,
        host=view.host,
        title=plain_name(view.title),
        how=", ".join(view.how),
        lines=", ".join(view.lines),
        certainty=view.certainty,
        note="; ".join(filter(None, (view.reason, view.label))),
    )


def _decision(view: FileDecision) -> dict[str, Any]:
    return present_fields(
        id=view.id,
        when=minute(view.at),
        kind="decision",
        session=view.session,
        who=view.by,
        trust=view.trust,
        text=_short(view.text, _LONGEST_NOTE),
        note=", ".join(view.links),
    )


def _note(view: FileNote) -> dict[str, Any]:
    notes = (view.filed_as, view.remark, view.label, "superseded" if view.is_superseded else "")
    return present_fields(
        id=view.id,
        when=minute(view.at),
        kind="note",
        who=plain_name(view.author),
        trust=view.trust,
        freshness=view.freshness,
        lines=", ".join(view.lines),
        text=_short(view.text, _LONGEST_NOTE),
        note="; ".join(filter(None, notes)),
    )


def _commit(view: FileCommit) -> dict[str, Any]:
    return present_fields(
        id=view.id,
        when=minute(view.at),
        kind="commit",
        who=plain_name(view.author),
        trust=view.trust,
        text=_short(view.text, _LONGEST_NOTE),
    )


def _blame_line(entry: Mapping[str, Any]) -> str:
    lines = f"lines {entry['lines']}" if "lines" in entry else ""
    session = f"session {entry['session']}" if "session" in entry else ""
    names = ("host", "how", "certainty", "who", "trust", "freshness", "note")
    parts = [entry["when"], entry["kind"], *(entry.get(name, "") for name in names), lines, session]
    head = f"[{entry['id']}] {' · '.join(filter(None, parts))}"
    words = entry.get("text") or entry.get("title", "")
    return f"{head}\n  {words}" if words else head


def _answer_blame(result: BlameResult, call: CallArguments) -> Answer:
    entries = [
        *map(_note, result.notes),
        *map(_decision, result.decisions),
        *map(_commit, result.commits),
        *map(_session, result.sessions),
    ]
    place = plain_name(result.path, _LONGEST) + (f":{result.line}" if result.line is not None else "")
    notice = f"{NOTICE}: {place}{_wing(result.wing)}; {count_noun(result.total, 'session')} touched it."
    if result.unlocated:
        notice += f" {count_noun(result.unlocated, 'more session')} edited the file at lines that are not known."
    if result.unattributed:
        notice += f" The line's text is not attributed: {result.unattributed}."
    return rows(result.advice or notice, "entries", entries, _blame_line)


BLAME = Tool(
    name="blame",
    description="Show what earlier sessions did to a file, decided about it, and noted on it.",
    arguments=(Argument("path", "The file, or a line of it: src/a.py or src/a.py:40."), *_SCOPE),
    answer=_answer_blame,
    output=shape(notice=TEXT, entries=LIST),
)


def _file(view: TopicFile) -> dict[str, Any]:
    return present_fields(
        id=view.drawer,
        path=view.path,
        wing=view.wing,
        how=", ".join(view.how),
        exchanges=view.exchanges,
        sessions=len(view.sessions),
        when=minute(view.last_at),
    )


def _file_line(file: Mapping[str, Any]) -> str:
    exchanges = f"{file['exchanges']} exchanges" if file["exchanges"] else "in the same sessions"
    head = " · ".join([plain_name(file["path"], _LONGEST), file["how"], exchanges, file["when"]])
    return f"[{file['id']}] {head}"


def _answer_files(result: FilesResult, call: CallArguments) -> Answer:
    number = count_noun(result.total, "file")
    notice = f"{NOTICE}: {number}{_wing(result.wing)} that sessions touched when they were about this."
    return rows(result.advice or notice, "files", [_file(view) for view in result.files], _file_line)


FILES = Tool(
    name="files",
    description="List the files that earlier sessions read or edited when they were about a topic.",
    arguments=(Argument("topic", "The topic, in your own words."), *_SCOPE),
    answer=_answer_files,
    output=shape(notice=TEXT, files=LIST),
)


def _failure(view: PastFailure) -> dict[str, Any]:
    return present_fields(
        id=view.id,
        when=minute(view.failed_at),
        session=view.session,
        trust=view.trust,
        outcome=view.outcome,
        command=_short(view.command),
        error=[_short(line) for line in view.error],
        edited=[_short(file) for file in view.edited],
        ran=[_short(command) for command in view.ran],
        passed_as=_short(view.passed_as),
        times=view.times if view.times > 1 else None,
        note=view.label,
    )


def _failure_lines(failure: Mapping[str, Any]) -> str:
    times = count_noun(failure["times"], "time") if "times" in failure else ""
    parts = (failure["when"], failure["outcome"], failure["trust"], times, failure.get("note", ""))
    head = f"[{failure['id']}] {' · '.join(filter(None, parts))}"
    return "\n".join([head, *_outcome_lines(failure)])


def _outcome_lines(failure: Mapping[str, Any]) -> Iterator[str]:
    """Yield the command, its error, and the changes before it passed, indented."""
    yield f"  command: {failure['command']}"
    for name in ("error", "edited", "ran"):
        yield from (f"  {name}: {entry}" for entry in failure.get(name, ()))
    if "passed_as" in failure:
        yield f"  passed as: {failure['passed_as']}"


def _answer_fix(result: FixResult, call: CallArguments) -> Answer:
    match = "with this error" if result.match == "same" else "with a similar error"
    notice = f"{NOTICE}: {count_noun(result.total, 'earlier failure')}{_wing(result.wing)} {match}."
    return rows(result.advice or notice, "failures", [_failure(view) for view in result.failures], _failure_lines)


FIX = Tool(
    name="fix",
    description="Find what fixed an error in earlier sessions: the command, and what was changed before it passed.",
    arguments=(Argument("error", "The error message, as it was printed."), *_SCOPE),
    answer=_answer_fix,
    output=shape(notice=TEXT, failures=LIST),
)


def _group(view: RecurringFailure) -> dict[str, Any]:
    counts = {"failures": view.failures, "sessions": view.sessions, "fixed": view.fixed}
    return {"kind": view.kind, **counts, "last": minute(view.last_at), "example": _failure(view.example)}


def _group_lines(group: Mapping[str, Any]) -> str:
    failed, fixed = (count_noun(group[name], "time") for name in ("failures", "fixed"))
    counts = f"failed {failed} in {count_noun(group['sessions'], 'session')}, fixed {fixed}"
    head = f"{group['kind']} · {counts} · last {group['last']}; for example:"
    return f"{head}\n{_failure_lines(group['example'])}"


def _answer_friction(result: FrictionResult, call: CallArguments) -> Answer:
    groups: Sequence[dict[str, Any]] = [_group(view) for view in result.groups]
    notice = f"{NOTICE}: {count_noun(result.total, 'recurring failure')}{_wing(result.wing)}, most frequent first."
    return rows(result.advice or notice, "groups", groups, _group_lines)


FRICTION = Tool(
    name="friction",
    description="List what fails again and again: errors and commands, how often, and whether they were fixed.",
    arguments=_SCOPE,
    answer=_answer_friction,
    output=shape(notice=TEXT, groups=LIST),
)


def _command(view: WorkingCommand) -> dict[str, Any]:
    return present_fields(
        id=view.id,
        command=_short(view.command),
        worked=view.worked,
        failed=view.failed,
        last=minute(view.last_at),
        exit_status=view.exit_status,
        trust=view.trust,
        host=view.host,
    )


def _command_line(command: Mapping[str, Any]) -> str:
    status = f"exit status {command['exit_status']}" if "exit_status" in command else ""
    worked, failed = (count_noun(command[name], "time") for name in ("worked", "failed"))
    counts = f"worked {worked}, failed {failed}"
    head = " · ".join(filter(None, (counts, f"last {command['last']}", status, command["host"], command["trust"])))
    return f"[{command['id']}] {head}\n  {command['command']}"


def _answer_how(result: HowResult, call: CallArguments) -> Answer:
    number = count_noun(result.total, "command")
    notice = f"{NOTICE}: {number} that worked{_wing(result.wing)}; they may not be right for you now."
    return rows(result.advice or notice, "commands", [_command(view) for view in result.commands], _command_line)


HOW = Tool(
    name="how",
    description="List commands with a program that worked in earlier sessions, the newest and most frequent first.",
    arguments=(Argument("tool", "The program, or a program and its subcommand: docker compose."), *_SCOPE),
    answer=_answer_how,
    output=shape(notice=TEXT, commands=LIST),
)


FULL = (
    BLAME,
    FILES,
    FIX,
    HOW,
    FRICTION,
)
