"""diary read: show an agent's entries, newest first."""

from __future__ import annotations

from datetime import tzinfo
from itertools import islice
from typing import TYPE_CHECKING

from palazzo.archive import diary_entries
from palazzo.errors import UsageError
from palazzo.features.diary.contract import DiaryReadRequest, DiaryReadResult, EntryView
from palazzo.operations import point_in_time
from palazzo.operations.caller_clock import day, whole_days, zone
from palazzo.security.display_names import shown_name

if TYPE_CHECKING:
    from palazzo.archive.diary_entries import Entry
    from palazzo.operations.context import Context


def diary_read(context: Context, request: DiaryReadRequest) -> DiaryReadResult:
    """Read an agent's diary, newest entry first, with full text."""
    if request.limit < 1:
        raise UsageError(f"The limit is {request.limit}; it must be at least 1.")
    name = diary_entries.agent_name(request.agent)
    since, until = (None, None) if request.day is None else whole_days(context, "--day", request.day)
    timezone = zone(context)
    with point_in_time.reading(context, point_in_time.as_of(request.as_of, context.now)) as connection:
        agent = diary_entries.agent_called(connection, name)
        if agent is None:
            near = tuple(diary_entries.near_agents(connection, name))
            return DiaryReadResult(name, (), 0, 0, near, _nobody(name, near))
        rows = list(
            diary_entries.entries(
                connection, agent, project=request.project, topic=request.topic, since=since, until=until
            )
        )
        entry_views = tuple(
            entry_view(diary_entries.read(connection, row), timezone) for row in islice(rows, request.limit)
        )
    note = "" if entry_views else f"{agent.name} has no entry there; {agent.entries:,} elsewhere."
    return DiaryReadResult(agent.name, entry_views, len(rows), len(entry_views), (), note)


def _nobody(name: str, near: tuple[str, ...]) -> str:
    suggestion = f" Near it: {', '.join(map(shown_name, near))}." if near else ""
    return f"{name} has not written in a diary yet.{suggestion}"


def entry_view(entry: Entry, timezone: tzinfo) -> EntryView:
    """Return a view of an entry with its local date."""
    return EntryView(entry.id, entry.agent, day(entry.at, timezone), entry.at, entry.topic, entry.project, entry.text)
