"""wing rename: give a wing another name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.places.contract import WingRenameRequest, WingRenameResult
from palazzo.features.places.place_results import begin_change, new_name
from palazzo.knowledge import place_names, reorganize
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@marks_taint
def wing_rename(context: Context, request: WingRenameRequest) -> WingRenameResult:
    """Rename a wing. Its old name leads to it until something else gets that name."""
    context.reading()  # a palace that is missing is not made
    name = new_name(context, request.name)
    with context.writing().database.transaction() as connection:
        wing = place_names.wing(connection, request.wing)
        change = begin_change(context, connection, "wing rename", f"{wing.name} → {name}")
        reorganize.rename_wing(change, wing, name)
        change.count(1)
    return WingRenameResult(name, wing.name)
