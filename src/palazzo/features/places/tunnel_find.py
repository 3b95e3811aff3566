"""tunnel find: find what wings have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.features.places.place_results import SharingView, TogetherView
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class TunnelFindRequest:
    """The wings to compare."""

    wing_a: Annotated[str | None, About("Only results that involve this wing.", positional=True)] = None
    wing_b: Annotated[str | None, About("Only results that involve this wing as well.", positional=True)] = None
    limit: Annotated[int, About("Maximum number of results.")] = 50


@dataclass(frozen=True, slots=True)
class TunnelFindResult:
    """Rooms of the same name in several wings, largest first, and pairs of rooms that share names.

    The totals also count entries past the limit.
    """

    rooms: tuple[TogetherView, ...]
    total: int
    sharing: tuple[SharingView, ...]
    total_sharing: int


def tunnel_find(context: Context, request: TunnelFindRequest) -> TunnelFindResult:
    """Find rooms with the same name in several wings, and rooms of different wings that mention the same names.

    Rooms that every wing has by default do not count as the same name: general, sessions, notes, diary, todos,
    reminders. Rare names weigh more, and a name that occurs everywhere links nothing.
    """
    from palazzo.features.places.place_results import read_names, sharing_view, together_view, wing
    from palazzo.knowledge.tunnels import Rooms

    if request.limit < 1:
        raise UsageError(f"The limit is {request.limit}; it must be at least 1.")
    read_names(context)
    with context.reading().database.snapshot() as connection:
        wings = [None if name is None else wing(context, connection, name) for name in (request.wing_a, request.wing_b)]
        rooms = Rooms(connection)
        name_groups, room_pairs = rooms.find_groups(*wings), rooms.find_overlaps(*wings)
        return TunnelFindResult(
            tuple(together_view(match) for match in name_groups[: request.limit]),
            len(name_groups),
            tuple(sharing_view(connection, match) for match in room_pairs[: request.limit]),
            len(room_pairs),
        )


OPERATION = Operation(
    "tunnel_find",
    TunnelFindRequest,
    TunnelFindResult,
    tunnel_find,
    scope="read",
    examples=("palazzo tunnel find", "palazzo tunnel find api web"),
)
