"""cleanup: find very short or low-importance notes, and forget them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.archive import acts, archive_reader, identity
from palazzo.errors import UsageError
from palazzo.features.search.drawer_rows import beginning
from palazzo.features.upkeep.contract import CandidateView, CleanupRequest, CleanupResult
from palazzo.operations.arguments import check_place
from palazzo.operations.caller_taint import change_actor
from palazzo.operations.taint_marks import marks_taint
from palazzo.store import change_groups, drawer_listing, injection_worth, items, note_labels, place_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

AT_ONCE = 100
"""Drawers forgotten in one transaction, so that other writers do not wait long."""


@marks_taint
def cleanup(context: Context, request: CleanupRequest) -> CleanupResult:
    """Forget very short or low-importance notes."""
    if not 0 <= request.threshold <= 1:
        raise UsageError(f"--threshold is {request.threshold:g}; it must be between 0 and 1.")
    if request.min_length < 0:
        raise UsageError(f"--min-length is {request.min_length}; it must be 0 or more.")
    with context.reading().database.snapshot() as connection:
        views = candidates(context, connection, request.threshold, request.min_length, request.wing)
    ids = [view.id for view in views]
    change = None if request.dry_run or not ids else _forget(context, ids)
    return CleanupResult(tuple(views), tuple(ids), request.dry_run, change)


def candidates(
    context: Context, connection: Connection, threshold: float, min_length: int, wing: str | None = None
) -> list[CandidateView]:
    """Return the drawers of very short or low-importance notes, the oldest first."""
    wing_name, _ = check_place(connection, wing, None, context.notice)
    rooms = place_rows.scope(connection, wing_name, None).rooms
    rows = drawer_listing.page(connection, drawer_listing.Listing(rooms=rooms, kind="note"), -1)[::-1]
    read, labels_by_row = archive_reader.read_drawers(connection, rows), note_labels.labels_of(connection, rows)
    item_rows = items.known_items(connection, {bytes.fromhex(drawer.spans[0].item) for drawer in read.values()})
    weight = injection_worth.worth_of(connection, item_rows.values())
    views = []
    for row in rows:
        drawer, label = read[row], labels_by_row.get(row, note_labels.NO_LABEL)
        own = weight[item_rows[bytes.fromhex(drawer.spans[0].item)]]
        unimportant = label.importance is not None and label.importance < threshold
        short = _width(drawer.text.strip()) < min_length and not (label.filed_as or label.importance)
        if own.references or not (unimportant or (short and not own.marks)):
            continue
        views.append(
            CandidateView(
                id=drawer.id,
                wing=drawer.place.wing,
                room=drawer.place.room,
                text=beginning(drawer.text),
                reason="unimportant" if unimportant else "short",
                importance=label.importance,
                length=len(drawer.text),
                created_at=drawer.created_at,
            )
        )
    return views


def _width(text: str) -> int:
    """Return the length of a text, with wide letters counted double: one is mostly a word or half of one."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _forget(context: Context, ids: Sequence[str]) -> str:
    """Forget drawers in one change group, in batches; return the id of the group."""
    database = context.writing().database
    change = identity.new_id(context.now)
    with database.transaction() as connection:
        group = change_groups.begin(
            connection, bytes.fromhex(change), change_actor(context), "cleanup", context.now, ""
        )
    for start in range(0, len(ids), AT_ONCE):
        if start:
            database.step()
        part = ids[start : start + AT_ONCE]
        with database.transaction() as connection:
            rows = [archive_reader.resolve_drawer(connection, drawer_id) for drawer_id in part]
            acts.act_on_drawers(
                connection, "forget", rows, change_actor(context), context.now, {"reason": "says little"}, group
            )
            change_groups.count(connection, group, len(rows))
        context.report("forgetting", start + len(part), len(ids))
    return change
