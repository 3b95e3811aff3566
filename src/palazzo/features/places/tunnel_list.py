"""tunnel list: list the created tunnels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.features.places.place_results import TunnelView
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class TunnelListRequest:
    """The wing to list."""

    wing: Annotated[str | None, About("Only tunnels with an end in this wing.")] = None


@dataclass(frozen=True, slots=True)
class TunnelListResult:
    """The tunnels, oldest first."""

    tunnels: tuple[TunnelView, ...]


def tunnel_list(context: Context, request: TunnelListRequest) -> TunnelListResult:
    """List the explicit tunnels between rooms."""
    from palazzo.features.places import place_results
    from palazzo.store import tunnel_rows

    with context.reading().database.snapshot() as connection:
        wing = None if request.wing is None else place_results.wing(context, connection, request.wing).row
        return TunnelListResult(
            tuple(place_results.tunnel_view(tunnel) for tunnel in tunnel_rows.live(connection, wing))
        )


OPERATION = Operation(
    "tunnel_list",
    TunnelListRequest,
    TunnelListResult,
    tunnel_list,
    scope="read",
    examples=("palazzo tunnel list --wing api",),
)
