"""quarantine drop: a person forgets untrusted content, or notes written after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class QuarantineDropRequest:
    """The entries to drop."""

    ids: Annotated[tuple[str, ...], About("Note, drawer or fact ids, or id prefixes.", positional=True, option="ID")]


@dataclass(frozen=True, slots=True)
class QuarantineDropResult:
    """The drawers and facts no longer found, and the facts that hold again. `change` is what an undo takes back."""

    drawers: tuple[str, ...]
    facts: tuple[str, ...]
    restored: tuple[str, ...]
    change: str


def quarantine_drop(context: Context, request: QuarantineDropRequest) -> QuarantineDropResult:
    """Forget quarantined content. Only a person can do this, not an agent; 'palazzo undo' reverts it.

    Facts that a dropped fact had superseded hold again.
    """
    from palazzo.features.trust import revocation
    from palazzo.features.trust.quarantine_rows import only_a_person, resolve_selection

    only_a_person(context, "drops")
    with context.reading().database.snapshot() as connection:
        selection = resolve_selection(connection, request.ids)
    result = revocation.withdraw(context, selection, "quarantine drop", "dropped")
    return QuarantineDropResult(selection.drawers, result.facts, result.restored, result.change)


OPERATION = Operation(
    "quarantine_drop",
    QuarantineDropRequest,
    QuarantineDropResult,
    quarantine_drop,
    scope="admin",
    writes=True,
    examples=("palazzo quarantine drop 3f2a91 8c05d2",),
)
