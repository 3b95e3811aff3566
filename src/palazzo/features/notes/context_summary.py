"""context_summary: what was decided, what was learned, and what else was noted, in a few rows each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.features.search.drawer_rows import DrawerRow
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_MOST = 100
_LOOKED_AT = 200
"""Notes that are looked at, the newest or those nearest to the topic."""
_NEAR = 0.3
"""Share of the best one's score that a note about the topic has at least: by vector everything is near somehow."""
LEARNINGS = frozenset({"learning", "discovery", "observation", "error", "advice", "recommendation", "tip"})


@dataclass(frozen=True, slots=True)
class ContextSummaryRequest:
    """About what, where, and how much of each."""

    topic: Annotated[str | None, About("What it is to be about; everything if left out.", positional=True)] = None
    wing: Annotated[str | None, About("The wing to look in; the project's if left out, else all.")] = None
    limit: Annotated[int, About("How many of each at most.")] = 5


@dataclass(frozen=True, slots=True)
class ContextSummaryResult:
    """Notes by what they were filed as: decisions; what was learned; all others. Newest first, or nearest the topic."""

    wing: str | None
    decisions: tuple[DrawerRow, ...]
    learnings: tuple[DrawerRow, ...]
    context: tuple[DrawerRow, ...]


def context_summary(context: Context, request: ContextSummaryRequest) -> ContextSummaryResult:
    """Show the notes that tell where things stand: what was decided, what was learned, and what else was noted.

    Each begins in its own words; nothing is summed up in others. Of all notes the newest 200 are looked at, or those
    nearest to the topic. What was superseded, and words of strangers, are left out.
    """
    from palazzo.features.branches.branch_labels import BranchStatus, Checkout
    from palazzo.features.search.drawer_rows import drawer_rows
    from palazzo.features.search.hits import find_supersessions
    from palazzo.features.search.search import check_place

    if not 1 <= request.limit <= _MOST:
        raise UsageError(f"The limit is {request.limit}; it must be between 1 and {_MOST}.")
    with context.reading().database.snapshot() as connection:
        wing_name, _ = check_place(connection, request.wing, None, context.notice)
    wing = wing_name or context.home
    checkout = Checkout(context)
    rows = _newest(context, wing) if request.topic is None else _nearest(context, wing, request.topic)
    with context.reading().database.snapshot() as connection:
        notes = drawer_rows(connection, rows, checkout)
        over = find_supersessions(connection, [note.id for note in notes], context.now)
    visible_notes = [note for note in notes if not checkout.hides(BranchStatus(note.visibility))]
    current_notes = [note for note in visible_notes if note.id not in over and note.trust != "external"]
    decisions = [note for note in current_notes if note.filed_as == "decision"]
    learnings = [note for note in current_notes if note.filed_as in LEARNINGS]
    remaining_notes = [note for note in current_notes if note.filed_as != "decision" and note.filed_as not in LEARNINGS]
    groups = (tuple(group[: request.limit]) for group in (decisions, learnings, remaining_notes))
    return ContextSummaryResult(wing, *groups)


def _newest(context: Context, wing: str | None) -> list[int]:
    from palazzo.store import drawer_listing, place_rows

    with context.reading().database.snapshot() as connection:
        note_filter = drawer_listing.Listing(rooms=place_rows.scope(connection, wing, None).rooms, kind="note")
        return drawer_listing.page(connection, note_filter, _LOOKED_AT)


def _nearest(context: Context, wing: str | None, topic: str) -> list[int]:
    from palazzo.index.query import Query, check

    query = Query(topic, wing, kind="note", limit=_LOOKED_AT, budget=1)
    check(query)
    hits = context.reading().search(query).hits
    least = _NEAR * max((hit.score for hit in hits), default=0.0)
    return [hit.row for hit in hits if hit.score >= max(least, hit.floor)]


OPERATION = Operation("context_summary", ContextSummaryRequest, ContextSummaryResult, context_summary, warm=True)
