"""wing merge: make two wings one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.places.contract import WingMergeRequest, WingMergeResult
from palazzo.features.places.place_results import begin_change
from palazzo.knowledge import place_names, reorganize
from palazzo.operations.taint_marks import marks_taint
from palazzo.store import remote_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@marks_taint
def wing_merge(context: Context, request: WingMergeRequest) -> WingMergeResult:
    """Merge a wing, with its rooms, into another; rooms of the same name become one."""
    context.reading()  # a palace that is missing is not made
    with context.writing().database.transaction() as connection:
        wing, into = (place_names.wing(connection, name) for name in (request.wing, request.into))
        change = begin_change(context, connection, "wing merge", f"{wing.name} into {into.name}")
        rooms = reorganize.merge_wings(change, wing, into)
        change.count(1)
        private = [
            private_wing.name
            for private_wing in remote_rows.listed_private(connection)
            if into.row in (private_wing.row, private_wing.part_of)
        ]
    return WingMergeResult(into.name, wing.name, rooms, tuple(private))
