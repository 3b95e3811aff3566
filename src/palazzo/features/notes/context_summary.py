"""context_summary: show decisions, learnings and other notes, a few rows of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.branches.branch_labels import BranchStatus, Checkout
from palazzo.features.notes.contract import ContextSummaryRequest, ContextSummaryResult
from palazzo.features.search.drawer_rows import drawer_rows
from palazzo.features.search.hits import find_supersessions
from palazzo.index.query import Query, check
from palazzo.operations.arguments import check_place
from palazzo.store import drawer_listing, place_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_MOST = 100
_LOOKED_AT = 200
"""Notes that are examined: the newest, or those nearest to the topic."""
_NEAR = 0.3
"""The least score of a note about the topic, as a share of the best score. Every note has some vector similarity."""
LEARNINGS = frozenset({"learning", "discovery", "observation", "error", "advice", "recommendation", "tip"})


def context_summary(context: Context, request: ContextSummaryRequest) -> ContextSummaryResult:
    """Show the notes that describe the present state: decisions, learnings and other notes."""
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
    with context.reading().database.snapshot() as connection:
        note_filter = drawer_listing.Listing(rooms=place_rows.scope(connection, wing, None).rooms, kind="note")
        return drawer_listing.page(connection, note_filter, _LOOKED_AT)


def _nearest(context: Context, wing: str | None, topic: str) -> list[int]:
    query = Query(topic, wing, kind="note", limit=_LOOKED_AT, budget=1)
    check(query)
    hits = context.reading().search(query).hits
    least = _NEAR * max((hit.score for hit in hits), default=0.0)
    return [hit.row for hit in hits if hit.score >= max(least, hit.floor)]
