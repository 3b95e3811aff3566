"""tunnel find: what wings have in common."""

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
    """Between which wings."""

    wing_a: Annotated[str | None, About("Only what this wing has a part in.", positional=True)] = None
    wing_b: Annotated[str | None, About("And this one too.", positional=True)] = None
    limit: Annotated[int, About("How many to show.")] = 50


@dataclass(frozen=True, slots=True)
class TunnelFindResult:
    """Rooms of one name in several wings, those with most drawers first, and pairs of rooms that share names.

    The totals count what is past the limit too.
    """

    rooms: tuple[TogetherView, ...]
    total: int
    sharing: tuple[SharingView, ...]
    total_sharing: int


def tunnel_find(context: Context, request: TunnelFindRequest) -> TunnelFindResult:
    """Find rooms of one name in several wings, and rooms of different wings that mention the same names.

    Rooms that every wing has by itself do not count as one name: general, sessions, notes, diary, todos, reminders.
    Of the names, rare ones weigh more, and one that is everywhere links nothing.
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


OPERATION = Operation("tunnel_find", TunnelFindRequest, TunnelFindResult, tunnel_find)
