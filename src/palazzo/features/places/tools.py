"""The tools taxonomy, tunnels, traverse and graph_stats: the structure of the palace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.features.places.contract import (
    GraphStatsResult,
    SharingView,
    TaxonomyResult,
    TogetherView,
    TraverseResult,
    TunnelAddResult,
    TunnelFindResult,
    TunnelFollowResult,
    TunnelListResult,
    TunnelRemoveResult,
    TunnelView,
)
from palazzo.operations.agent_tools.tool import ADDS, CHANGES, Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import (
    LIST,
    NOTICE,
    NUMBER,
    OBJECT,
    TEXT,
    minute,
    present_fields,
    rows,
    shape,
)
from palazzo.text.count_phrases import count_noun

_MOST_ROOMS, _MOST = 400, 100


def _taxonomy(result: TaxonomyResult, call: CallArguments) -> Answer:
    wings: dict[str, Any] = {}
    remaining_rooms = _MOST_ROOMS
    for name, wing in sorted(result.taxonomy.items(), key=lambda pair: (-pair[1].drawers, pair[0])):
        rooms = sorted(wing.rooms.items(), key=lambda pair: (-pair[1].drawers, pair[0]))
        wings[name] = {
            room: {"drawers": contents.drawers, **({"halls": contents.halls} if contents.halls else {})}
            for room, contents in rooms[: max(remaining_rooms, 0)]
        }
        remaining_rooms -= len(rooms)
        if remaining_rooms <= 0:
            break
    cut = (
        f"Limited to {_MOST_ROOMS} rooms; give wing to list one wing."
        if remaining_rooms < 0 or len(wings) < len(result.taxonomy)
        else ""
    )
    lines = [
        f"{name}: "
        + ", ".join(
            f"{room} {contents['drawers']:,}"
            + (f" ({', '.join(f'{hall} {n}' for hall, n in contents['halls'].items())})" if "halls" in contents else "")
            for room, contents in rooms.items()
        )
        for name, rooms in wings.items()
    ]
    fields = {"taxonomy": wings, "drawers": result.drawers, "tunnels": result.tunnels, **({"note": cut} if cut else {})}
    return Answer(fields, "\n".join(filter(None, [*lines, cut])) or "The palace is empty.")


TAXONOMY = Tool(
    name="taxonomy",
    description="List wings (projects, people, agents), their rooms (topics) and halls (kinds of notes), with counts.",
    arguments=(Argument("wing"),),
    answer=_taxonomy,
    output=shape(taxonomy=OBJECT, drawers=NUMBER, tunnels=NUMBER),
)


def _told_tunnel(tunnel: TunnelView) -> dict[str, Any]:
    ends = {"from": f"{tunnel.source.wing}/{tunnel.source.room}", "to": f"{tunnel.target.wing}/{tunnel.target.room}"}
    return present_fields(id=tunnel.id, **ends, label=tunnel.label, made=minute(tunnel.created_at), by=tunnel.by)


def _tunnel_line(tunnel: dict[str, Any]) -> str:
    return f"[{tunnel['id']}] {tunnel['from']} → {tunnel['to']}{' · ' + tunnel['label'] if 'label' in tunnel else ''}"


def _tunnel_added(result: TunnelAddResult, call: CallArguments) -> Answer:
    tunnel = _told_tunnel(result.tunnel)
    return Answer(
        {"tunnel": tunnel, "new": result.new}, f"{'Made' if result.new else 'Was there'}: {_tunnel_line(tunnel)}"
    )


TUNNEL_ADD = Tool(
    name="tunnel_add",
    description="Link two related rooms, in one wing or in two.",
    arguments=(
        Argument("source", "wing/room."),
        Argument("target", "wing/room."),
        Argument("label", "What connects them."),
        Argument("source_drawers", "Ids of drawers at the source."),
        Argument("target_drawers", "Ids of drawers at the target."),
    ),
    hints=ADDS,
    answer=_tunnel_added,
    output=shape(tunnel=OBJECT),
)


def _tunnels(result: TunnelListResult, call: CallArguments) -> Answer:
    tunnels = [_told_tunnel(tunnel) for tunnel in result.tunnels[:_MOST]]
    lines = [f"{count_noun(len(result.tunnels), 'tunnel')}.", *map(_tunnel_line, tunnels)]
    return Answer({"tunnels": tunnels, "total": len(result.tunnels)}, "\n".join(lines))


TUNNEL_LIST = Tool(
    name="tunnel_list",
    description="List the links created between rooms.",
    arguments=(Argument("wing", "Only links with an end in this wing."),),
    answer=_tunnels,
    output=shape(tunnels=LIST, total=NUMBER),
)


def _describe_room(room: TogetherView) -> dict[str, Any]:
    return present_fields(room=room.room, wings=list(room.wings), halls=list(room.halls), drawers=room.count)


def _describe_pair(pair: SharingView) -> dict[str, Any]:
    return {"rooms": list(pair.rooms), "names": [name.name for name in pair.names], "shared": pair.shared}


def _shared_lines(rooms: Sequence[dict[str, Any]], pairs: Sequence[dict[str, Any]]) -> list[str]:
    return [
        *(f"{row['room']}: in {', '.join(row['wings'])} ({count_noun(row['drawers'], 'drawer')})" for row in rooms),
        *(f"{' and '.join(row['rooms'])}: both mention {', '.join(row['names'])}" for row in pairs),
    ]


def _tunnels_found(result: TunnelFindResult, call: CallArguments) -> Answer:
    rooms = [_describe_room(row) for row in result.rooms]
    pairs = [_describe_pair(row) for row in result.sharing]
    head = (
        f"{count_noun(result.total, 'room')} in several wings; {count_noun(result.total_sharing, 'pair')} share names."
    )
    fields = {"rooms": rooms, "sharing": pairs, "total": result.total, "total_sharing": result.total_sharing}
    return Answer(fields, "\n".join([head, *_shared_lines(rooms, pairs)]))


TUNNEL_FIND = Tool(
    name="tunnel_find",
    description="Find related rooms: rooms with the same name in several wings, or with rare names in common.",
    arguments=(
        Argument("wing_a", "Only results that include this wing."),
        Argument("wing_b", "And this wing."),
        Argument("limit", schema={"minimum": 1, "maximum": _MOST}, default=20),
    ),
    answer=_tunnels_found,
    output=shape(rooms=LIST, sharing=LIST),
)


def _answer_follow(result: TunnelFollowResult, call: CallArguments) -> Answer:
    notice = f"{NOTICE}: {count_noun(len(result.tunnels), 'tunnel')} of {result.wing}/{result.room}."
    tunnels = [
        {
            "id": tunnel.tunnel_id,
            "direction": tunnel.direction,
            "room": f"{tunnel.connected_wing}/{tunnel.connected_room}",
            "label": tunnel.label,
            "drawers": [
                {"id": drawer.id, "text": f"{drawer.text}{'…' if drawer.truncated else ''}"}
                for drawer in tunnel.drawers
            ],
        }
        for tunnel in result.tunnels
    ]
    return rows(notice, "tunnels", tunnels, _followed_lines)


def _followed_lines(tunnel: Mapping[str, Any]) -> str:
    head = f"[{tunnel['id']}] {tunnel['direction']} {tunnel['room']} {tunnel['label']}".rstrip()
    return "\n".join(
        [head, *(f"  [{drawer['id']}] {' '.join(drawer['text'].split())}" for drawer in tunnel["drawers"])]
    )


TUNNEL_FOLLOW = Tool(
    name="tunnel_follow",
    description="List where the links of a room lead, with the beginnings of the drawers there.",
    arguments=(Argument("room", "wing/room."),),
    answer=_answer_follow,
    output=shape(notice=TEXT, tunnels=LIST),
)


def _tunnel_removed(result: TunnelRemoveResult, call: CallArguments) -> Answer:
    tunnel = _told_tunnel(result.deleted)
    return Answer({"deleted": tunnel}, f"Removed: {_tunnel_line(tunnel)}. undo restores it.")


TUNNEL_REMOVE = Tool(
    name="tunnel_remove",
    description="Remove a link between rooms.",
    arguments=(Argument("id"),),
    hints=CHANGES,
    answer=_tunnel_removed,
    output=shape(deleted=OBJECT),
)


def _answer_traverse(result: TraverseResult, call: CallArguments) -> Answer:
    rooms = [
        {"room": room.room, "wings": list(room.wings), "hop": room.hop, "via": room.via, "drawers": room.count}
        for room in result.rooms
    ]
    lines = [
        f"{room.hop}  {room.room} (in {', '.join(room.wings)}; {count_noun(room.count, 'drawer')}) {room.via}".rstrip()
        for room in result.rooms
    ]
    return Answer({"rooms": rooms, "total": result.total}, "\n".join([f"{count_noun(result.total, 'room')}:", *lines]))


TRAVERSE = Tool(
    name="traverse",
    description="List the rooms related to a room, hop by hop.",
    arguments=(
        Argument("room", "wing/room, or a room's name."),
        Argument("hops", schema={"minimum": 1, "maximum": 5}),
        Argument("limit", schema={"minimum": 1, "maximum": _MOST}),
    ),
    answer=_answer_traverse,
    output=shape(rooms=LIST, total=NUMBER),
)


def _counted_graph(result: GraphStatsResult, call: CallArguments) -> Answer:
    rooms, pairs = (
        [_describe_room(row) for row in result.top_tunnels],
        [_describe_pair(row) for row in result.top_sharing],
    )
    names = [
        {"name": row.name, "kind": row.kind, "drawers": row.drawers, "rooms": row.rooms} for row in result.top_names
    ]
    head = (
        f"{count_noun(result.total_rooms, 'room')}, {result.tunnel_rooms} of them with a tunnel; "
        f"{count_noun(result.total_edges, 'tunnel')} created and found."
    )
    fields = {
        "total_rooms": result.total_rooms,
        "tunnel_rooms": result.tunnel_rooms,
        "total_edges": result.total_edges,
        "rooms_per_wing": dict(list(result.rooms_per_wing.items())[:_MOST]),
        "top_tunnels": rooms,
        "top_sharing": pairs,
        "top_names": names,
    }
    most = [f"Mentioned most: {', '.join(str(row['name']) for row in names)}"] if names else []
    return Answer(fields, "\n".join([head, *_shared_lines(rooms, pairs), *most]))


GRAPH_STATS = Tool(
    name="graph_stats",
    description="Count rooms and links, and list what is mentioned most.",
    answer=_counted_graph,
    output=shape(total_rooms=NUMBER, tunnel_rooms=NUMBER, total_edges=NUMBER),
)


FULL = (
    TAXONOMY,
    TUNNEL_ADD,
    TUNNEL_LIST,
    TUNNEL_FIND,
    TUNNEL_FOLLOW,
    TUNNEL_REMOVE,
    TRAVERSE,
    GRAPH_STATS,
)
