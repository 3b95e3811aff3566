"""quarantine drop: a person forgets untrusted content, or notes written after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.trust import revocation
from palazzo.features.trust.contract import QuarantineDropRequest, QuarantineDropResult
from palazzo.features.trust.quarantine_rows import only_a_person, resolve_selection

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def quarantine_drop(context: Context, request: QuarantineDropRequest) -> QuarantineDropResult:
    """Forget quarantined content. Only a person can do this, not an agent; 'palazzo undo' reverts it."""
    only_a_person(context, "drops")
    with context.reading().database.snapshot() as connection:
        selection = resolve_selection(connection, request.ids)
    result = revocation.withdraw(context, selection, "quarantine drop", "dropped")
    return QuarantineDropResult(selection.drawers, result.facts, result.restored, result.change)
