"""tunnel remove: remove a tunnel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.features.places.place_results import TunnelView
from palazzo.operations.operation import About, Operation
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class TunnelRemoveRequest:
    """The tunnel to remove."""

    id: Annotated[str, About("The tunnel's id or id prefix.", positional=True)]


@dataclass(frozen=True, slots=True)
class TunnelRemoveResult:
    """The tunnel that was removed."""

    deleted: TunnelView


@marks_taint
def tunnel_remove(context: Context, request: TunnelRemoveRequest) -> TunnelRemoveResult:
    """Remove an explicit tunnel. 'palazzo undo' restores it."""
    from palazzo.features.facts.fact_results import change
    from palazzo.features.places.place_results import tunnel_view
    from palazzo.knowledge import tunnels

    context.reading()  # a palace that is missing is not made
    with context.writing().database.transaction() as connection:
        tunnel_change = change(context, connection, "tunnel remove")
        tunnel = tunnels.fill(tunnel_change, request.id)
        tunnel_change.count(1)
    return TunnelRemoveResult(tunnel_view(tunnel))


OPERATION = Operation(
    "tunnel_remove",
    TunnelRemoveRequest,
    TunnelRemoveResult,
    tunnel_remove,
    scope="write",
    writes=True,
    examples=("palazzo tunnel remove 3f2a91",),
)
