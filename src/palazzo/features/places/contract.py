"""Requests, results and operations of `places`: what faces know of the feature, without its engine."""

from __future__ import annotations

from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.operations.operation import About, Operation


@frozen
class EndView:
    """The end of a tunnel; `drawers` are ids, empty if the tunnel leads to the room as a whole."""

    wing: str
    room: str
    drawers: tuple[str, ...]


@frozen
class TunnelView:
    """A tunnel that was created explicitly."""

    id: str
    label: str
    source: EndView
    target: EndView
    created_at: Micros
    by: str


@frozen
class TogetherView:
    """Rooms with the same name: their wings, their halls, the number of drawers, and the time of the newest."""

    room: str
    wings: tuple[str, ...]
    halls: tuple[str, ...]
    count: int
    recent: Micros


@frozen
class SharedName:
    """A name that two rooms share, spelled as in one place, and its kind."""

    name: str
    kind: str


@frozen
class SharingView:
    """Two rooms of different wings (`wing/room`) that share rare names: the most significant ones, and the total."""

    rooms: tuple[str, str]
    names: tuple[SharedName, ...]
    shared: int


@frozen
class WingListRequest:
    """List the wings, with their former names."""


@frozen
class WingView:
    """A wing: its rooms, its live drawers, and its former names."""

    wing: str
    rooms: int
    drawers: int
    former: tuple[str, ...]


@frozen
class WingListResult:
    """The wings, sorted by name."""

    wings: tuple[WingView, ...]


WING_LIST = Operation(
    "wing_list",
    WingListRequest,
    WingListResult,
    scope="read",
    examples=("palazzo wing list",),
)


@frozen
class WingRenameRequest:
    """Rename a wing. Its old name leads to it until something else gets that name.

    Nothing is rewritten: ids stay, search finds the wing by its new name at once, and mining still files in it. A name
    given by hand overrides palazzo.toml. 'palazzo undo' reverts this.
    """

    wing: Annotated[str, About("The wing.", positional=True)]
    name: Annotated[str, About("The new name.", positional=True)]


@frozen
class WingRenameResult:
    """The new name of the wing, and its old name."""

    wing: str
    was: str


WING_RENAME = Operation(
    "wing_rename",
    WingRenameRequest,
    WingRenameResult,
    scope="admin",
    writes=True,
    examples=("palazzo wing rename shop store",),
)


@frozen
class WingMergeRequest:
    """Merge a wing, with its rooms, into another; rooms of the same name become one.

    Nothing is rewritten, and 'palazzo undo' separates the two again. If either is private, nothing of both is synced as
    long as they are merged.
    """

    wing: Annotated[str, About("The wing whose name is no longer used.", positional=True)]
    into: Annotated[str, About("The wing to merge it into.", positional=True)]


@frozen
class WingMergeResult:
    """The merged wing and its target. `rooms` are the rooms that both had, which are merged too.

    `private` lists the private ones among the merged wings: they keep the others on this machine, too.
    """

    wing: str
    was: str
    rooms: tuple[str, ...]
    private: tuple[str, ...] = ()


WING_MERGE = Operation(
    "wing_merge",
    WingMergeRequest,
    WingMergeResult,
    scope="admin",
    writes=True,
    examples=("palazzo wing merge old-api api",),
)


@frozen
class RoomListRequest:
    """List the rooms, with their former names."""

    wing: Annotated[str | None, About("Only the rooms of this wing.")] = None


@frozen
class RoomView:
    """A room: its live drawers, the time of the newest, its halls, and former places (`wing/room`) that lead to it."""

    wing: str
    room: str
    drawers: int
    recent: Micros
    halls: dict[str, int]
    former: tuple[str, ...]


@frozen
class RoomListResult:
    """The rooms, sorted by wing and name."""

    rooms: tuple[RoomView, ...]


ROOM_LIST = Operation(
    "room_list",
    RoomListRequest,
    RoomListResult,
    scope="read",
    examples=("palazzo room list --wing api",),
)


@frozen
class RoomRenameRequest:
    """Rename a room. Its old name leads to it until another room gets that name.

    Nothing is rewritten: files mined for the old room go to the renamed one. 'palazzo undo' reverts this.
    """

    room: Annotated[str, About("The room: wing/room, or only the room's name if it is unique.", positional=True)]
    name: Annotated[str, About("The new name, in its wing.", positional=True)]


@frozen
class RoomRenameResult:
    """The new place of the room, and its old place."""

    wing: str
    room: str
    was: str


ROOM_RENAME = Operation(
    "room_rename",
    RoomRenameRequest,
    RoomRenameResult,
    scope="admin",
    writes=True,
    examples=("palazzo room rename api/misc deploy",),
)


@frozen
class RoomMergeRequest:
    """Merge a room into another.

    Nothing is rewritten, and 'palazzo undo' separates the two again.
    """

    room: Annotated[
        str,
        About(
            "The room whose name is no longer used: wing/room, or only the room's name if it is unique.",
            positional=True,
        ),
    ]
    into: Annotated[str, About("The room to merge it into, in any wing.", positional=True)]


@frozen
class RoomMergeResult:
    """The new place of the room, and its old place (`wing/room`)."""

    wing: str
    room: str
    was: str


ROOM_MERGE = Operation(
    "room_merge",
    RoomMergeRequest,
    RoomMergeResult,
    scope="admin",
    writes=True,
    examples=("palazzo room merge api/deploys api/deploy",),
)


@frozen
class RoomMoveRequest:
    """Move a room, with everything in it, to another wing.

    Nothing is rewritten: files mined for the old room go to its new place. 'palazzo undo' reverts this.
    """

    room: Annotated[str, About("The room: wing/room, or only the room's name if it is unique.", positional=True)]
    wing: Annotated[str, About("The wing to move it to.", positional=True)]
    new: Annotated[bool, About("Create that wing, which must not exist yet.")] = False


@frozen
class RoomMoveResult:
    """The new place of the room, and its old place (`wing/room`)."""

    wing: str
    room: str
    was: str


ROOM_MOVE = Operation(
    "room_move",
    RoomMoveRequest,
    RoomMoveResult,
    scope="admin",
    writes=True,
    examples=("palazzo room move api/billing payments --new",),
)


@frozen
class TunnelAddRequest:
    """Make a tunnel between two rooms, of one wing or of two.

    An existing tunnel is not made twice. A tunnel still leads to its rooms after they are renamed.
    """

    source: Annotated[
        str,
        About("The room where it starts: wing/room, or only the room's name if it is unique.", positional=True),
    ]
    target: Annotated[str, About("The room where it ends.", positional=True)]
    label: Annotated[str, About("What connects the rooms, in a few words.")] = ""
    source_drawers: Annotated[
        tuple[str, ...],
        About("A drawer where it starts; may be given several times.", option="--source-drawer", metavar="ID"),
    ] = ()
    target_drawers: Annotated[
        tuple[str, ...],
        About("A drawer where it ends; may be given several times.", option="--target-drawer", metavar="ID"),
    ] = ()


@frozen
class TunnelAddResult:
    """The tunnel, and whether it is new."""

    tunnel: TunnelView
    new: bool


TUNNEL_ADD = Operation(
    "tunnel_add",
    TunnelAddRequest,
    TunnelAddResult,
    scope="write",
    writes=True,
    examples=("palazzo tunnel add api/auth web/login --label 'same tokens'",),
)


@frozen
class TunnelListRequest:
    """List the explicit tunnels between rooms."""

    wing: Annotated[str | None, About("Only tunnels with an end in this wing.")] = None


@frozen
class TunnelListResult:
    """The tunnels, oldest first."""

    tunnels: tuple[TunnelView, ...]


TUNNEL_LIST = Operation(
    "tunnel_list",
    TunnelListRequest,
    TunnelListResult,
    scope="read",
    examples=("palazzo tunnel list --wing api",),
)


@frozen
class TunnelFindRequest:
    """Find rooms with the same name in several wings, and rooms of different wings that mention the same names.

    Rooms that every wing has by default do not count as the same name: general, sessions, notes, diary, todos,
    reminders. Rare names weigh more, and a name that occurs everywhere links nothing.
    """

    wing_a: Annotated[str | None, About("Only results that involve this wing.", positional=True)] = None
    wing_b: Annotated[str | None, About("Only results that involve this wing as well.", positional=True)] = None
    limit: Annotated[int, About("Maximum number of results.")] = 50


@frozen
class TunnelFindResult:
    """Rooms of the same name in several wings, largest first, and pairs of rooms that share names.

    The totals also count entries past the limit.
    """

    rooms: tuple[TogetherView, ...]
    total: int
    sharing: tuple[SharingView, ...]
    total_sharing: int


TUNNEL_FIND = Operation(
    "tunnel_find",
    TunnelFindRequest,
    TunnelFindResult,
    scope="read",
    examples=("palazzo tunnel find", "palazzo tunnel find api web"),
)


@frozen
class TunnelFollowRequest:
    """Show where the tunnels of a room lead, with the beginnings of the drawers at the other end."""

    room: Annotated[str, About("The room: wing/room, or only the room's name if it is unique.", positional=True)]


@frozen
class LedTo:
    """A drawer on the other side: the beginning of its text, and whether that is all of it."""

    id: str
    text: str
    truncated: bool


@frozen
class FollowedView:
    """A tunnel as seen from the room: `outgoing` leads from it, `incoming` leads to it."""

    direction: Literal["outgoing", "incoming"]
    connected_wing: str
    connected_room: str
    label: str
    tunnel_id: str
    drawers: tuple[LedTo, ...]


@frozen
class TunnelFollowResult:
    """The room, and the targets of its tunnels."""

    wing: str
    room: str
    tunnels: tuple[FollowedView, ...]


TUNNEL_FOLLOW = Operation(
    "tunnel_follow",
    TunnelFollowRequest,
    TunnelFollowResult,
    scope="read",
    examples=("palazzo tunnel follow api/auth",),
)


@frozen
class TunnelRemoveRequest:
    """Remove an explicit tunnel. 'palazzo undo' restores it."""

    id: Annotated[str, About("The tunnel's id or id prefix.", positional=True)]


@frozen
class TunnelRemoveResult:
    """The tunnel that was removed."""

    deleted: TunnelView


TUNNEL_REMOVE = Operation(
    "tunnel_remove",
    TunnelRemoveRequest,
    TunnelRemoveResult,
    scope="write",
    writes=True,
    examples=("palazzo tunnel remove 3f2a91",),
)


@frozen
class TraverseRequest:
    """Show the rooms that are connected with a room, step by step.

    A step leads through an explicit tunnel, to a room of the same name in another wing (these count as one), to a room
    of another wing that mentions the same rare names, or to another room of its wing. From rooms that every wing has by
    default, steps lead only through tunnels and names.
    """

    room: Annotated[str, About("The room to start from: wing/room, or a room name of any wing.", positional=True)]
    hops: Annotated[int, About("Number of steps.")] = 2
    limit: Annotated[int, About("Maximum number of rooms.")] = 50


@frozen
class TraversedView:
    """Rooms of one name, their distance in steps, and the connection of the last step."""

    room: str
    wings: tuple[str, ...]
    halls: tuple[str, ...]
    count: int
    hop: int
    via: str


@frozen
class TraverseResult:
    """The rooms reached, nearest first; `total` also counts rooms past the limit."""

    rooms: tuple[TraversedView, ...]
    total: int


TRAVERSE = Operation(
    "traverse",
    TraverseRequest,
    TraverseResult,
    scope="read",
    group="Arrange",
    summary="Show the rooms that are connected with a room",
    examples=("palazzo traverse api/auth --hops 3",),
)


@frozen
class HallwaysRequest:
    """List pairs of names that drawers of one wing mention together, those with most such drawers first.

    A pair that only one drawer mentions is left out. The names are those that rules find in drawers: files, packages,
    identifiers, people and products.
    """

    wing: Annotated[str | None, About("Only in this wing.")] = None
    limit: Annotated[int, About("Maximum number of pairs.")] = 20
    offset: Annotated[int, About("Number of pairs to skip.")] = 0


@frozen
class HallwayView:
    """Two names that drawers of a wing mention together: their number, their rooms, and the time of the newest."""

    id: str
    wing: str
    first: str
    second: str
    drawers: int
    rooms: tuple[str, ...]
    recent: Micros


@frozen
class HallwaysResult:
    """A page of pairs of names, and the total number."""

    hallways: tuple[HallwayView, ...]
    total: int
    limit: int
    offset: int


HALLWAYS = Operation(
    "hallways",
    HallwaysRequest,
    HallwaysResult,
    scope="read",
    group="Arrange",
    summary="List names that drawers mention together",
    examples=("palazzo hallways --wing api",),
)


@frozen
class GraphStatsRequest:
    """Count rooms and the tunnels between them, and list the most mentioned names."""


@frozen
class MentionedName:
    """A name that drawers mention, its kind, and the number of drawers and rooms."""

    name: str
    kind: str
    drawers: int
    rooms: int


@frozen
class GraphStatsResult:
    """All rooms, rooms with tunnels, tunnels created and discovered, rooms per wing, the largest ones, and names.

    `top_names` are the names that most drawers mention.
    """

    total_rooms: int
    tunnel_rooms: int
    total_edges: int
    rooms_per_wing: dict[str, int]
    top_tunnels: tuple[TogetherView, ...]
    top_sharing: tuple[SharingView, ...]
    top_names: tuple[MentionedName, ...]


GRAPH_STATS = Operation(
    "graph_stats",
    GraphStatsRequest,
    GraphStatsResult,
    scope="read",
    group="Arrange",
    summary="Count rooms and tunnels",
    examples=("palazzo graph-stats",),
)


@frozen
class TaxonomyRequest:
    """Show wings, rooms and halls, with counts.

    A hall is one kind of content in a room: facts, events, decisions, discoveries, preferences, advice. A note's hall
    is the kind that it was filed as ('palazzo remember --kind decision').
    """

    wing: Annotated[str | None, About("Only rooms of this wing.")] = None


@frozen
class RoomTaxonomy:
    """The number of a room's live drawers, and of its notes by hall."""

    drawers: int
    halls: dict[str, int]


@frozen
class WingTaxonomy:
    """The number of a wing's live drawers, and its rooms by name."""

    drawers: int
    rooms: dict[str, RoomTaxonomy]


@frozen
class TaxonomyResult:
    """The wings by name, and the number of tunnels created between their rooms."""

    taxonomy: dict[str, WingTaxonomy]
    drawers: int
    tunnels: int


TAXONOMY = Operation(
    "taxonomy",
    TaxonomyRequest,
    TaxonomyResult,
    scope="read",
    group="Arrange",
    summary="Show wings, rooms and halls, with counts",
    examples=("palazzo taxonomy --wing api",),
)
