"""today: show what is due, the last sessions, what is new, and whether Palazzo works."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from palazzo.archive import task_notes
from palazzo.archive.session_titles import shown_title
from palazzo.features.setup.contract import NewSinceYesterday, ProjectSession, TodayRequest, TodayResult
from palazzo.features.setup.palace_health import check_health
from palazzo.features.tasks.task_results import reminder_view, todo_view
from palazzo.model import Micros
from palazzo.operations.caller_clock import zone
from palazzo.operations.shared_views import ReminderView, TodoView
from palazzo.store import palace_overview, place_rows, source_rows, task_rows
from palazzo.text.ages import describe_age

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.palace_overview import SessionRow

_MOST_DUE, _MOST_TODOS, _MOST_PROJECTS = 5, 5, 6
_MOST_SESSIONS = 5_000
"""The most sessions that are searched for the last one of each project."""


def today(context: Context, request: TodayRequest) -> TodayResult:
    """Show what is due and open, the last session of each project, what is new since yesterday, and the health."""
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
    for due_task in task_notes.due(connection, task_notes.Moment(now)):
        yield reminder_view(due_task.task, due_task.causes)


def _list_todos(connection: Connection, now: Micros) -> tuple[TodoView, ...]:
    return tuple(todo_view(task, now) for task in task_rows.tasks(connection, "todo")[:_MOST_TODOS])


def _own_sessions(connection: Connection) -> list[SessionRow]:
    """Return the sessions with words of this person, newest first, without those of sub-agents."""
    rows = palace_overview.sessions(connection, _MOST_SESSIONS, None, ("user",))
    return [row for row in rows if "/" not in row.session_id]


def _last_sessions(connection: Connection, rows: list[SessionRow], now: Micros) -> Iterator[ProjectSession]:
    """Yield the last session of each wing that is not forgotten, the newest first."""
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
        yield ProjectSession(wing, row.session_id, host, title, row.last_at, describe_age(row.last_at, now))


def _count_new(context: Context, connection: Connection, rows: list[SessionRow]) -> NewSinceYesterday:
    since = _start_of_yesterday(context)
    counts = palace_overview.count_new(connection, since)
    sessions = sum(row.last_at >= since for row in rows)
    return NewSinceYesterday(since, sessions, counts.decisions, counts.documents, counts.notes)


def _start_of_yesterday(context: Context) -> Micros:
    timezone = zone(context)
    local_day = datetime.fromtimestamp(context.now // 1_000_000, timezone).date() - timedelta(days=1)
    start = datetime.combine(local_day, datetime.min.time(), timezone)
    return Micros(int(start.timestamp()) * 1_000_000)
