"""diary read: show an agent's entries, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.features.diary.diary_results import EntryView
from palazzo.operations import point_in_time
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.security.display_names import shown_name

if TYPE_CHECKING:
    from palazzo.operations.context import Context

ENTRIES = 10


@dataclass(frozen=True, slots=True)
class DiaryReadRequest:
    """The agent, and which of its diary entries to read."""

    agent: Annotated[str, About("The agent's name; case is ignored.", positional=True)]
    day: Annotated[
        str | None, About("Only from this day or period: today, yesterday, 2026-03-04, 'last week'.", metavar="WHEN")
    ] = None
    project: Annotated[str | None, About("Only about the project of this wing.", metavar="WING")] = None
    topic: Annotated[str | None, About("Only with this topic.")] = None
    limit: Annotated[int, About("Maximum number of entries.")] = ENTRIES
    as_of: Annotated[str | None, About(point_in_time.HELP)] = None


@dataclass(frozen=True, slots=True)
class DiaryReadResult:
    """Entries, newest first: `showing` of `total`. `near` lists agents with similar names if this one has no diary."""

    agent: str
    entries: tuple[EntryView, ...]
    total: int
    showing: int
    near: tuple[str, ...] = ()
    note: Annotated[str, PERSON_ONLY] = ""
    """The message to show if there are no entries."""


def diary_read(context: Context, request: DiaryReadRequest) -> DiaryReadResult:
    """Read an agent's diary, newest entry first, with full text.

    Days are in the local time zone. An empty diary is not an error.
    """
    from palazzo.archive import diary_entries
    from palazzo.features.diary.diary_results import entry_view
    from palazzo.operations.caller_clock import whole_days, zone

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


OPERATION = Operation(
    "diary_read",
    DiaryReadRequest,
    DiaryReadResult,
    diary_read,
    scope="read",
    examples=("palazzo diary read codex", "palazzo diary read codex --day yesterday"),
)
