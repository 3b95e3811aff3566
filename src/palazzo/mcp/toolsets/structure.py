"""taxonomy, tunnels, traverse, graph_stats: how the palace is laid out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.mcp.telling import LIST, NOTICE, NUMBER, OBJECT, TEXT, minute, rows, shape
from palazzo.mcp.tools import ADDS, CHANGES, Answer, Argument, Given, Tool
from palazzo.operations.graph_stats import GraphStatsResult
from palazzo.operations.structure import SharingView, TogetherView, TunnelView
from palazzo.operations.taxonomy import TaxonomyResult
from palazzo.operations.traverse import TraverseResult
from palazzo.operations.tunnel_add import TunnelAddResult
from palazzo.operations.tunnel_find import TunnelFindResult
from palazzo.operations.tunnel_follow import TunnelFollowResult
from palazzo.operations.tunnel_list import TunnelListResult
from palazzo.operations.tunnel_remove import TunnelRemoveResult
from palazzo.text.counts import count_noun

_MOST_ROOMS, _MOST = 400, 100


# --- taxonomy ----------------------------------------------------------------------------------------------


def _taxonomy(result: TaxonomyResult, given: Given) -> Answer:
    wings: dict[str, Any] = {}
    left = _MOST_ROOMS
    for name, wing in sorted(result.taxonomy.items(), key=lambda pair: (-pair[1].drawers, pair[0])):
        rooms = sorted(wing.rooms.items(), key=lambda pair: (-pair[1].drawers, pair[0]))
        wings[name] = {
            room: {"drawers": held.drawers, **({"halls": held.halls} if held.halls else {})}
            for room, held in rooms[: max(left, 0)]
        }
        left -= len(rooms)
        if left <= 0:
            break
    cut = f"Cut to {_MOST_ROOMS} rooms; give wing for one." if left < 0 or len(wings) < len(result.taxonomy) else ""
    lines = [
        f"{name}: "
        + ", ".join(
            f"{room} {held['drawers']:,}"
            + (f" ({', '.join(f'{hall} {n}' for hall, n in held['halls'].items())})" if "halls" in held else "")
            for room, held in rooms.items()
        )
        for name, rooms in wings.items()
    ]
    told = {"taxonomy": wings, "drawers": result.drawers, "tunnels": result.tunnels, **({"note": cut} if cut else {})}
    return Answer(told, "\n".join(filter(None, [*lines, cut])) or "The palace is empty.")


TAXONOMY = Tool(
    name="taxonomy",
    operation="taxonomy",
    description="Wings (projects, people, agents), their rooms (topics) and halls (kinds of notes), with counts.",
    arguments=(Argument("wing"),),
    answer=_taxonomy,
    output=shape(taxonomy=OBJECT, drawers=NUMBER, tunnels=NUMBER),
)


# --- tunnels -----------------------------------------------------------------------------------------------


def _told_tunnel(one: TunnelView) -> dict[str, Any]:
    told = {
        "id": one.id,
        "from": f"{one.source.wing}/{one.source.room}",
        "to": f"{one.target.wing}/{one.target.room}",
        "label": one.label,
        "made": minute(one.created_at),
        "by": one.by,
    }
    return {name: value for name, value in told.items() if value}


def _tunnel_line(told: dict[str, Any]) -> str:
    return f"[{told['id']}] {told['from']} → {told['to']}{' · ' + told['label'] if 'label' in told else ''}"


def _tunnel_added(result: TunnelAddResult, given: Given) -> Answer:
    told = _told_tunnel(result.tunnel)
    return Answer({"tunnel": told, "new": result.new}, f"{'Made' if result.new else 'Was there'}: {_tunnel_line(told)}")


TUNNEL_ADD = Tool(
    name="tunnel_add",
    operation="tunnel_add",
    description="Link two rooms that belong together, of one wing or of two.",
    arguments=(
        Argument("source", "wing/room."),
        Argument("target", "wing/room."),
        Argument("label", "What joins them."),
        Argument("source_drawers", "Ids of drawers that it leads from."),
        Argument("target_drawers", "Ids of drawers that it leads to."),
    ),
    hints=ADDS,
    answer=_tunnel_added,
    output=shape(tunnel=OBJECT),
)


def _tunnels(result: TunnelListResult, given: Given) -> Answer:
    told = [_told_tunnel(one) for one in result.tunnels[:_MOST]]
    lines = [f"{count_noun(len(result.tunnels), 'tunnel')}.", *map(_tunnel_line, told)]
    return Answer({"tunnels": told, "total": len(result.tunnels)}, "\n".join(lines))


TUNNEL_LIST = Tool(
    name="tunnel_list",
    operation="tunnel_list",
    description="Links that were made between rooms.",
    arguments=(Argument("wing", "Those that end in it."),),
    answer=_tunnels,
    output=shape(tunnels=LIST, total=NUMBER),
)


def _together(one: TogetherView) -> dict[str, Any]:
    told = {"room": one.room, "wings": list(one.wings), "halls": list(one.halls), "drawers": one.count}
    return {name: value for name, value in told.items() if value}


def _sharing(one: SharingView) -> dict[str, Any]:
    return {"rooms": list(one.rooms), "names": [name.name for name in one.names], "shared": one.shared}


def _shared_lines(rooms: Sequence[dict[str, Any]], sharing: Sequence[dict[str, Any]]) -> list[str]:
    return [
        *(f"{one['room']}: in {', '.join(one['wings'])} ({count_noun(one['drawers'], 'drawer')})" for one in rooms),
        *(f"{' and '.join(one['rooms'])}: both mention {', '.join(one['names'])}" for one in sharing),
    ]


def _tunnels_found(result: TunnelFindResult, given: Given) -> Answer:
    rooms = [_together(one) for one in result.rooms]
    sharing = [_sharing(one) for one in result.sharing]
    head = (
        f"{count_noun(result.total, 'room')} in several wings; {count_noun(result.total_sharing, 'pair')} share names."
    )
    told = {"rooms": rooms, "sharing": sharing, "total": result.total, "total_sharing": result.total_sharing}
    return Answer(told, "\n".join([head, *_shared_lines(rooms, sharing)]))


TUNNEL_FIND = Tool(
    name="tunnel_find",
    operation="tunnel_find",
    description="Rooms that hang together by themselves: of one name in several wings, or with rare names in common.",
    arguments=(
        Argument("wing_a", "That this wing has a part in."),
        Argument("wing_b", "And this one."),
        Argument("limit", schema={"minimum": 1, "maximum": _MOST}, default=20),
    ),
    answer=_tunnels_found,
    output=shape(rooms=LIST, sharing=LIST),
)


def _followed(result: TunnelFollowResult, given: Given) -> Answer:
    notice = f"{NOTICE}: {count_noun(len(result.tunnels), 'tunnel')} of {result.wing}/{result.room}."
    told = [
        {
            "id": one.tunnel_id,
            "direction": one.direction,
            "room": f"{one.connected_wing}/{one.connected_room}",
            "label": one.label,
            "drawers": [{"id": led.id, "text": f"{led.text}{'…' if led.truncated else ''}"} for led in one.drawers],
        }
        for one in result.tunnels
    ]
    return rows(notice, "tunnels", told, _followed_lines)


def _followed_lines(told: Mapping[str, Any]) -> str:
    head = f"[{told['id']}] {told['direction']} {told['room']} {told['label']}".rstrip()
    return "\n".join([head, *(f"  [{led['id']}] {' '.join(led['text'].split())}" for led in told["drawers"])])


TUNNEL_FOLLOW = Tool(
    name="tunnel_follow",
    operation="tunnel_follow",
    description="Where the links of a room lead, with how the drawers there begin.",
    arguments=(Argument("room", "wing/room."),),
    answer=_followed,
    output=shape(notice=TEXT, tunnels=LIST),
)


def _tunnel_removed(result: TunnelRemoveResult, given: Given) -> Answer:
    told = _told_tunnel(result.deleted)
    return Answer({"deleted": told}, f"Removed: {_tunnel_line(told)}. undo brings it back.")


TUNNEL_REMOVE = Tool(
    name="tunnel_remove",
    operation="tunnel_remove",
    description="Remove a link between rooms.",
    arguments=(Argument("id"),),
    hints=CHANGES,
    answer=_tunnel_removed,
    output=shape(deleted=OBJECT),
)


# --- walking and counting ----------------------------------------------------------------------------------


def _traversed(result: TraverseResult, given: Given) -> Answer:
    told = [
        {"room": one.room, "wings": list(one.wings), "hop": one.hop, "via": one.via, "drawers": one.count}
        for one in result.rooms
    ]
    lines = [
        f"{one.hop}  {one.room} (in {', '.join(one.wings)}; {count_noun(one.count, 'drawer')}) {one.via}".rstrip()
        for one in result.rooms
    ]
    return Answer({"rooms": told, "total": result.total}, "\n".join([f"{count_noun(result.total, 'room')}:", *lines]))


TRAVERSE = Tool(
    name="traverse",
    operation="traverse",
    description="Go from a room to those that hang together with it, hop by hop.",
    arguments=(
        Argument("room", "wing/room, or a room's name."),
        Argument("hops", schema={"minimum": 1, "maximum": 5}),
        Argument("limit", schema={"minimum": 1, "maximum": _MOST}),
    ),
    answer=_traversed,
    output=shape(rooms=LIST, total=NUMBER),
)


def _counted_graph(result: GraphStatsResult, given: Given) -> Answer:
    rooms, sharing = [_together(one) for one in result.top_tunnels], [_sharing(one) for one in result.top_sharing]
    names = [
        {"name": one.name, "kind": one.kind, "drawers": one.drawers, "rooms": one.rooms} for one in result.top_names
    ]
    head = (
        f"{count_noun(result.total_rooms, 'room')}, {result.tunnel_rooms} of them with a tunnel;"
        f" {count_noun(result.total_edges, 'tunnel')} made and found."
    )
    told = {
        "total_rooms": result.total_rooms,
        "tunnel_rooms": result.tunnel_rooms,
        "total_edges": result.total_edges,
        "rooms_per_wing": dict(list(result.rooms_per_wing.items())[:_MOST]),
        "top_tunnels": rooms,
        "top_sharing": sharing,
        "top_names": names,
    }
    most = [f"Mentioned most: {', '.join(str(one['name']) for one in names)}"] if names else []
    return Answer(told, "\n".join([head, *_shared_lines(rooms, sharing), *most]))


GRAPH_STATS = Tool(
    name="graph_stats",
    operation="graph_stats",
    description="How many rooms and links there are, and what is mentioned most.",
    answer=_counted_graph,
    output=shape(total_rooms=NUMBER, tunnel_rooms=NUMBER, total_edges=NUMBER),
)
