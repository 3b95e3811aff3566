"""diary handoff: hand one agent's open threads over to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from itertools import islice
from typing import TYPE_CHECKING

from palazzo.archive import diary_entries, task_notes
from palazzo.archive.session_titles import shown_title
from palazzo.errors import UsageError
from palazzo.features.diary.contract import DiaryHandoffRequest, DiaryHandoffResult, EntryView, LaterSession, OpenLine
from palazzo.features.diary.diary_read import entry_view
from palazzo.features.facts.fact_results import views
from palazzo.features.tasks.task_results import reminder_view, todo_view
from palazzo.frozen_class import frozen
from palazzo.injection.injectable_facts import Audience, tellable
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.model import USERS_WING, Micros
from palazzo.operations.arguments import check_place
from palazzo.operations.caller_clock import day, day_and_time, zone
from palazzo.operations.shared_views import FactView, ReminderView, TodoView
from palazzo.store import digest_rows, fact_rows, palace_overview
from palazzo.store.entity_rows import LATEST
from palazzo.text.token_counts import cut, estimate_tokens

if TYPE_CHECKING:
    from palazzo.archive.diary_entries import Agent
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

MOST_LISTED = 8
"""The most lines of each kind."""
_LEAST_SHOWN = 40
"""The least tokens of a shortened entry that are worth showing."""
_GOES_ON = "\n  … (continues: palazzo show ID)"


def diary_handoff(context: Context, request: DiaryHandoffRequest) -> DiaryHandoffResult:
    """Hand over an agent's work to another agent: open to-dos, the latest diary entries, and what has changed since."""
    if request.entries < 1 or request.budget < 1:
        raise UsageError("Both --limit and --budget must be at least 1.")
    receiver = diary_entries.agent_name(request.receiver)
    timezone, now = zone(context), context.now
    palace = context.reading()
    palace.follow_digests(lambda done, size: context.report("digesting sessions", done, size))
    with palace.database.snapshot() as connection:
        giver = diary_entries.find_agent(connection, request.giver)
        if diary_entries.wing_of(giver.name) == diary_entries.wing_of(receiver):
            raise UsageError(f"{giver.name} and {receiver} are the same agent: name another one to hand over to.")
        parts = _gather(connection, request, giver, now, timezone)
        receiver = diary_entries.find_spelling(connection, receiver)
    return _build_result(parts, receiver, request.budget, now, timezone)


@frozen
class _Parts:
    giver: Agent
    projects: tuple[str, ...]
    todos: tuple[TodoView, ...]
    reminders: tuple[ReminderView, ...]
    left_open: tuple[OpenLine, ...]
    entries: tuple[EntryView, ...]
    later_entries: tuple[EntryView, ...]
    later_facts: tuple[FactView, ...]
    later_sessions: tuple[LaterSession, ...]


def _gather(
    connection: Connection, request: DiaryHandoffRequest, giver: Agent, now: Micros, timezone: tzinfo
) -> _Parts:
    project, _ = check_place(connection, request.project, None)
    rows = list(islice(diary_entries.entries(connection, giver, project=project), request.entries))
    entries = tuple(entry_view(diary_entries.read(connection, row), timezone) for row in rows)
    projects = tuple(dict.fromkeys([project] if project else [record.project for record in entries]))
    projects = tuple(filter(None, projects))
    todos = {
        task.row: task
        for wing in projects or (None,)
        for task in task_notes.open_todos(connection, wing, () if project else giver.spellings)
    }
    moment = task_notes.Moment(now)
    due = {
        record.task.row: record for wing in projects or (None,) for record in task_notes.due(connection, moment, wing)
    }
    project_entries = (
        diary_entries.read(connection, row)
        for wing in projects
        for row in diary_entries.entries(connection, project=wing, since=Micros(giver.last_at + 1))
    )
    later = {
        record.id: entry_view(record, timezone) for record in project_entries if record.agent not in giver.spellings
    }
    return _Parts(
        giver,
        projects,
        tuple(todo_view(task, now) for task in todos.values()),
        tuple(reminder_view(record.task, record.causes) for record in due.values()),
        _left_open(connection, projects),
        entries,
        tuple(islice(later.values(), MOST_LISTED)),
        _later_facts(connection, giver.last_at, projects, now),
        _later_sessions(connection, giver.last_at, projects),
    )


def _left_open(connection: Connection, projects: Sequence[str]) -> tuple[OpenLine, ...]:
    """Return what sessions left open, newest first, as far as they have been digested."""
    lines = [line for wing in projects for line in digest_rows.open_lines(connection, wing, MOST_LISTED)]
    newest = sorted((line for line in lines if not line.is_untrusted), key=lambda line: -line.said_at)[:MOST_LISTED]
    return tuple(OpenLine(line.quote.item, line.session, line.role, line.said_at, line.quote.text) for line in newest)


def _later_facts(connection: Connection, since: Micros, projects: Sequence[str], now: Micros) -> tuple[FactView, ...]:
    """Return the facts recorded since then that hold, in these projects and everywhere; newest first."""
    later = (version for version in fact_rows.versions(connection, LATEST) if version.recorded_at > since)
    tellable_facts = tellable(connection, later, Audience((*projects, USERS_WING), now))
    newest = sorted(tellable_facts, key=lambda version: -version.recorded_at)[:MOST_LISTED]
    return views(Beliefs(connection), newest, now)


def _later_sessions(connection: Connection, since: Micros, projects: Sequence[str]) -> tuple[LaterSession, ...]:
    later_sessions = {
        session.session_id: LaterSession(
            session.session_id, shown_title(connection, session.source, session.title), session.last_at
        )
        for wing in projects
        for session in palace_overview.sessions(connection, MOST_LISTED, wing)
        if session.last_at > since
    }
    return tuple(sorted(later_sessions.values(), key=lambda session: -session.last_at)[:MOST_LISTED])


# --- the text ----------------------------------------------------------------------------------------------


def _build_result(parts: _Parts, receiver: str, budget: int, now: Micros, timezone: tzinfo) -> DiaryHandoffResult:
    lines: list[str] = []
    remaining_tokens = budget
    for line in _lines(parts, receiver, now, timezone):
        excerpt = line if estimate_tokens(line) <= remaining_tokens else _shorten_line(line, remaining_tokens)
        if excerpt:
            lines.append(excerpt)
            remaining_tokens -= estimate_tokens(excerpt)
    text = "\n".join(lines)
    return DiaryHandoffResult(
        parts.giver.name,
        receiver,
        parts.projects,
        parts.giver.last_at,
        text,
        estimate_tokens(text),
        parts.todos,
        parts.reminders,
        parts.left_open,
        parts.entries,
        parts.later_entries,
        parts.later_facts,
        parts.later_sessions,
    )


def _shorten_line(line: str, remaining_tokens: int) -> str:
    """Return an entry's heading and the beginning of its text, marked as cut; '' if too little would remain."""
    head, _, text = line.partition("\n")
    room = remaining_tokens - estimate_tokens(f"{head}\n{_GOES_ON}")
    if not text or room < _LEAST_SHOWN:
        return ""
    return f"{head}\n{cut(text, room, estimate_tokens(text))}{_GOES_ON}"


def _lines(parts: _Parts, receiver: str, now: Micros, timezone: tzinfo) -> Iterator[str]:
    giver = parts.giver
    about = f" about {', '.join(parts.projects)}" if parts.projects else ""
    yield f"Hand-over{about} from {giver.name} to {receiver}, {day_and_time(now, timezone)}."
    yield f"{giver.name} last wrote {_age(giver.last_at, now)} ({day_and_time(giver.last_at, timezone)})."
    yield "Open to-dos:" if parts.todos else "No open to-dos."
    for todo in parts.todos[:MOST_LISTED]:
        due = (
            f"due before {day_and_time(todo.due_at, timezone)}{', overdue' if todo.overdue else ''}; "
            if todo.due_at
            else ""
        )
        by = f" by {todo.by}" if todo.by else ""
        yield f"- {_line(todo.text)} ({due}stated {_age(todo.created_at, now)}{by}) [{todo.id}]"
    if len(parts.todos) > MOST_LISTED:
        yield f"- and {len(parts.todos) - MOST_LISTED} more: palazzo todo list"
    if parts.reminders:
        yield "Due reminders:"
        for reminder in parts.reminders[:MOST_LISTED]:
            yield f"- {_line(reminder.text)} (left {_age(reminder.created_at, now)}) [{reminder.id}]"
    if parts.left_open:
        yield "Left open in sessions, quoted:"
        for line in parts.left_open:
            yield f"- {day(line.said_at, timezone)} {line.role}: {_line(line.text)} [{line.id}]"
    yield f"Last entries of {giver.name}, newest first:"
    for entry in parts.entries:
        project_suffix = f", {entry.project}" if entry.project else ""
        text = "\n".join(f"  {line}" for line in entry.content.strip("\n").split("\n"))
        yield f"- {day_and_time(entry.timestamp, timezone)}, {entry.topic}{project_suffix} [{entry.id}]\n{text}"
    yield from _changes(parts, now, timezone)


def _changes(parts: _Parts, now: Micros, timezone: tzinfo) -> Iterator[str]:
    if not (parts.later_facts or parts.later_sessions or parts.later_entries):
        yield "No changes since then are known."
        return
    yield "Changed since:"
    for fact in parts.later_facts:
        end_text = f", until {fact.valid_to[:10]}" if fact.valid_to else ""
        yield f"- {fact.recorded_at[:10]} {fact.subject} {fact.predicate} {fact.object}{end_text} [{fact.id}]"
    for entry in parts.later_entries:
        yield f"- {entry.date} {entry.agent} wrote of {entry.topic}: {_line(entry.content)} [{entry.id}]"
    for session in parts.later_sessions:
        yield f"- {day(session.last_at, timezone)} session: {session.title or 'untitled'} [{session.id}]"


def _line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 200 else f"{words[:200].rsplit(' ', 1)[0]} …"


def _age(at: Micros, now: Micros) -> str:
    """Return how long ago something was, in words."""
    minutes = max(0, now - at) // 60_000_000
    if minutes < 1:
        return "just now"
    unit, size = next(pair for pair in (("day", 1440), ("hour", 60), ("minute", 1)) if minutes >= pair[1])
    number = minutes // size
    return f"{number:,} {unit}{'' if number == 1 else 's'} ago"
