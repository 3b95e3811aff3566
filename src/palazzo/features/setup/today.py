"""today: show what is due, the last sessions, what is new, and whether Palazzo works."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Annotated

from palazzo.features.setup.palace_health import HealthNote
from palazzo.features.tasks.task_results import ReminderView, TodoView
from palazzo.model import Micros
from palazzo.operations.operation import PERSON_ONLY, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.palace_overview import SessionRow

_MOST_DUE, _MOST_TODOS, _MOST_PROJECTS = 5, 5, 6
_MOST_SESSIONS = 5_000
"""The most sessions that are searched for the last one of each project."""


@dataclass(frozen=True, slots=True)
class TodayRequest:
    """Nothing can be chosen."""


@dataclass(frozen=True, slots=True)
class ProjectSession:
    """The last session of a project: its wing, its id, the program that wrote it, and when it last went on."""

    wing: str
    session: str
    host: str
    title: str
    last_at: Micros
    age: Annotated[str, PERSON_ONLY] = ""


@dataclass(frozen=True, slots=True)
class NewSinceYesterday:
    """What went on or was written since the beginning of yesterday."""

    since: Micros
    sessions: int
    decisions: int
    documents: int
    notes: int


@dataclass(frozen=True, slots=True)
class TodayResult:
    """Today's state; all parts are empty if the palace does not exist yet.

    `due` are reminders whose time has come, of all wings; `todos` the open to-dos that are due first.
    """

    palace: str
    exists: bool
    due: tuple[ReminderView, ...] = ()
    todos: tuple[TodoView, ...] = ()
    open_todos: int = 0
    sessions: tuple[ProjectSession, ...] = ()
    new: NewSinceYesterday = NewSinceYesterday(Micros(0), 0, 0, 0, 0)
    health: tuple[HealthNote, ...] = ()


def today(context: Context, request: TodayRequest) -> TodayResult:
    """Show what is due and open, the last session of each project, what is new since yesterday, and the health.

    'palazzo' without a command shows the same.
    """
    from palazzo.features.setup.palace_health import check_health
    from palazzo.store import task_rows

    context.check_palace_path()
    if not context.has_palace:
        return TodayResult(str(context.palace_path), False)
    with context.reading().database.snapshot() as connection:
        todos = _list_todos(connection, context.now)
        rows = _own_sessions(connection)
        return TodayResult(
            palace=str(context.palace_path),
            exists=True,
            due=tuple(islice(_list_due(connection, context.now), _MOST_DUE)),
            todos=todos,
            open_todos=task_rows.count_open(connection, "todo"),
            sessions=tuple(islice(_last_sessions(connection, rows, context.now), _MOST_PROJECTS)),
            new=_count_new(context, connection, rows),
            health=check_health(context, connection),
        )


def _list_due(connection: Connection, now: Micros) -> Iterator[ReminderView]:
    from palazzo.archive import task_notes
    from palazzo.features.tasks.task_results import reminder_view

    for due_task in task_notes.due(connection, task_notes.Moment(now)):
        yield reminder_view(due_task.task, due_task.causes)


def _list_todos(connection: Connection, now: Micros) -> tuple[TodoView, ...]:
    from palazzo.features.tasks.task_results import todo_view
    from palazzo.store import task_rows

    return tuple(todo_view(task, now) for task in task_rows.tasks(connection, "todo")[:_MOST_TODOS])


def _own_sessions(connection: Connection) -> list[SessionRow]:
    """Return the sessions with words of this person, newest first, without those of sub-agents."""
    from palazzo.store import palace_overview

    rows = palace_overview.sessions(connection, _MOST_SESSIONS, None, ("user",))
    return [row for row in rows if "/" not in row.session_id]


def _last_sessions(connection: Connection, rows: list[SessionRow], now: Micros) -> Iterator[ProjectSession]:
    """Yield the last session of each wing that is not forgotten, the newest first."""
    from palazzo.archive.session_titles import shown_title
    from palazzo.store import place_rows, source_rows

    wings_by_room: dict[int, str] = {}
    seen_wings: set[str] = set()
    for row in rows:
        if row.room not in wings_by_room:
            wings_by_room[row.room] = place_rows.place_of(connection, row.room).wing
        wing = wings_by_room[row.room]
        if wing in seen_wings or not source_rows.count_live_drawers(connection, row.source):
            continue
        seen_wings.add(wing)
        host = source_rows.read_source(connection, row.source).kind
        title = shown_title(connection, row.source, row.title)
        yield ProjectSession(wing, row.session_id, host, title, row.last_at, format_age(row.last_at, now))


def format_age(at: Micros, now: Micros) -> str:
    """Return how long ago something was: `just now`, `3 hours ago`; '' after two weeks, when its date says more."""
    from palazzo.text.count_phrases import count_noun

    minutes = max(0, now - at) // 60_000_000
    if minutes < 1:
        return "just now"
    if minutes >= 14 * 1440:
        return ""
    unit, size = next(pair for pair in (("day", 1440), ("hour", 60), ("minute", 1)) if minutes >= pair[1])
    return f"{count_noun(minutes // size, unit)} ago"


def _count_new(context: Context, connection: Connection, rows: list[SessionRow]) -> NewSinceYesterday:
    from palazzo.store import palace_overview

    since = _start_of_yesterday(context)
    counts = palace_overview.count_new(connection, since)
    sessions = sum(row.last_at >= since for row in rows)
    return NewSinceYesterday(since, sessions, counts.decisions, counts.documents, counts.notes)


def _start_of_yesterday(context: Context) -> Micros:
    from palazzo.operations.caller_clock import zone

    timezone = zone(context)
    local_day = datetime.fromtimestamp(context.now // 1_000_000, timezone).date() - timedelta(days=1)
    start = datetime.combine(local_day, datetime.min.time(), timezone)
    return Micros(int(start.timestamp()) * 1_000_000)


OPERATION = Operation(
    "today", TodayRequest, TodayResult, today, scope="read", examples=("palazzo today", "palazzo today --json")
)
