"""Terminal output of wings, rooms and tunnels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from palazzo.features.places.contract import (
    EndView,
    GraphStatsResult,
    HallwaysResult,
    RoomListResult,
    RoomMergeResult,
    RoomMoveResult,
    RoomRenameResult,
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
    WingListResult,
    WingMergeResult,
    WingRenameResult,
)
from palazzo.features.screen import INDENT, Part, Screen
from palazzo.model import Micros
from palazzo.text.count_phrases import agree, count_noun
from palazzo.text.times import to_iso

_BACK = "'palazzo undo' reverts this."
_MOST_LISTED = 10


# --- wings and rooms ---------------------------------------------------------------------------------------


def wing_list(screen: Screen, result: WingListResult) -> None:
    """Show wings in a table."""
    if not result.wings:
        screen.say(("There are no wings yet.", "dim"))
        return
    rows = [
        ((wing.wing, "cyan"), f"{wing.rooms:,}", f"{wing.drawers:,}", (", ".join(wing.former), "dim"))
        for wing in result.wings
    ]
    screen.table(("wing", "rooms", "drawers", "former names"), rows, right=(1, 2))


def wing_rename(screen: Screen, result: WingRenameResult) -> None:
    """Show both names."""
    screen.say((result.was, "cyan"), " is called ", (result.wing, "cyan"), f" from now on. {_BACK}")


def wing_merge(screen: Screen, result: WingMergeResult) -> None:
    """Show both wings, and the rooms that were merged."""
    screen.say((result.was, "cyan"), " is a part of ", (result.wing, "cyan"), f" from now on. {_BACK}")
    if result.rooms:
        more = len(result.rooms) - _MOST_LISTED
        room_names = f"{', '.join(result.rooms[:_MOST_LISTED])}{f' and {more:,} more' if more > 0 else ''}"
        screen.say(
            f"{count_noun(len(result.rooms), 'room')} that both had {agree(len(result.rooms))} now merged: {room_names}"
        )
    if result.private:
        be = "is" if len(result.private) == 1 else "are"
        screen.say(
            (
                f"From now on, nothing of '{result.wing}' is synced, including content that was public and future "
                f"content: {', '.join(result.private)} {be} private. 'palazzo sync private --public "
                f"{result.private[0]}' allows all of it to be synced.",
                "yellow",
            )
        )


def room_list(screen: Screen, result: RoomListResult) -> None:
    """Show rooms in a table."""
    if not result.rooms:
        screen.say(("There are no rooms yet.", "dim"))
        return
    rows = [
        (
            (f"{room.wing}/{room.room}", "cyan"),
            f"{room.drawers:,}",
            (_day(room.recent), "dim"),
            _halls(room.halls),
            (", ".join(room.former), "dim"),
        )
        for room in result.rooms
    ]
    screen.table(("room", "drawers", "newest", "halls", "former names"), rows, right=(1,))


def room_rename(screen: Screen, result: RoomRenameResult) -> None:
    """Show both names."""
    was = f"{result.wing}/{result.was}"
    screen.say((was, "cyan"), " is called ", (f"{result.wing}/{result.room}", "cyan"), f" from now on. {_BACK}")


def room_merge(screen: Screen, result: RoomMergeResult) -> None:
    """Show both rooms."""
    screen.say(
        (result.was, "cyan"), " is a part of ", (f"{result.wing}/{result.room}", "cyan"), f" from now on. {_BACK}"
    )


def room_move(screen: Screen, result: RoomMoveResult) -> None:
    """Show both places."""
    screen.say((result.was, "cyan"), " is ", (f"{result.wing}/{result.room}", "cyan"), f" from now on. {_BACK}")


def taxonomy(screen: Screen, result: TaxonomyResult) -> None:
    """Show wings with their rooms below, and the kinds of their content."""
    rows: list[Sequence[Part]] = []
    for name, wing in result.taxonomy.items():
        rows.append(((name, "bold"), (f"{wing.drawers:,}", "bold"), ""))
        rows += [
            ((f"{INDENT}{room}", "cyan"), f"{stats.drawers:,}", _halls(stats.halls))
            for room, stats in wing.rooms.items()
        ]
    if rows:
        screen.table(("", "drawers", "halls"), rows, right=(1,))
    parts = [
        count_noun(len(result.taxonomy), "wing"),
        count_noun(result.drawers, "drawer"),
        count_noun(result.tunnels, "tunnel"),
    ]
    screen.say((", ".join(parts), "dim"))


# --- tunnels -----------------------------------------------------------------------------------------------


def tunnel_add(screen: Screen, result: TunnelAddResult) -> None:
    """Show the tunnel."""
    screen.say(("Made" if result.new else "Already exists; nothing changed", "bold"))
    _tunnels(screen, [result.tunnel])


def tunnel_list(screen: Screen, result: TunnelListResult) -> None:
    """Show all tunnels."""
    _tunnels(screen, result.tunnels)
    if not result.tunnels:
        screen.say(("No tunnel has been created yet: palazzo tunnel add ROOM ROOM. ", "dim"))


def tunnel_remove(screen: Screen, result: TunnelRemoveResult) -> None:
    """Show what was removed."""
    screen.say(("Removed", "bold"), f". {_BACK}")
    _tunnels(screen, [result.deleted])


def tunnel_find(screen: Screen, result: TunnelFindResult) -> None:
    """Show rooms that several wings have, then rooms that share names."""
    if result.rooms:
        _show_shared_rooms(screen, result.rooms)
        _of_all(screen, len(result.rooms), result.total)
    else:
        screen.say(("No room name occurs in two wings.", "dim"))
    if result.sharing:
        screen.gap()
        _show_room_pairs(screen, result.sharing)
        _of_all(screen, len(result.sharing), result.total_sharing, "pair")
    else:
        screen.say(("No rooms of different wings share names that are rare enough to be significant.", "dim"))


def tunnel_follow(screen: Screen, result: TunnelFollowResult) -> None:
    """Show where tunnels lead, and the beginnings of the drawers there."""
    if not result.tunnels:
        screen.say(
            ("No tunnel has been created from ", "dim"), (f"{result.wing}/{result.room}", "cyan"), (" yet.", "dim")
        )
    for tunnel in result.tunnels:
        arrow = "→" if tunnel.direction == "outgoing" else "←"
        screen.say(f"{arrow} ", (f"{tunnel.connected_wing}/{tunnel.connected_room}", "cyan"), f"  {tunnel.label}")
        screen.say((f"{INDENT}{tunnel.tunnel_id}", "dim"))
        for drawer in tunnel.drawers:
            words = " ".join(drawer.text.split())
            cut = f" … (truncated; 'palazzo show {drawer.id}' shows the whole text)" if drawer.truncated else ""
            screen.say((f"{INDENT}{drawer.id}  ", "dim"), f"{words}{cut}")


def traverse(screen: Screen, result: TraverseResult) -> None:
    """Show the places reached, and the number of steps."""
    rows = [
        (
            f"{room.hop}",
            (room.room, "cyan"),
            ", ".join(room.wings),
            f"{room.count:,}",
            ", ".join(room.halls),
            _via(room.via),
        )
        for room in result.rooms
    ]
    screen.table(("hop", "room", "wings", "drawers", "halls", "by"), rows, right=(0, 3))
    _of_all(screen, len(result.rooms), result.total)


def hallways(screen: Screen, result: HallwaysResult) -> None:
    """Show pairs of names in a table."""
    if not result.hallways:
        screen.say(("No two names are mentioned together by several drawers.", "dim"))
        return
    rows = [
        ((pair.wing, "cyan"), f"{pair.first} ↔ {pair.second}", f"{pair.drawers:,}", (", ".join(pair.rooms), "dim"))
        for pair in result.hallways
    ]
    screen.table(("wing", "names", "drawers", "rooms"), rows, right=(2,))
    if result.total > len(result.hallways):
        screen.say((f"{len(result.hallways):,} of {result.total:,}", "dim"))


def graph_stats(screen: Screen, result: GraphStatsResult) -> None:
    """Show counts, then the rooms with the most connections."""
    rows = [
        ("rooms", f"{result.total_rooms:,}, {result.tunnel_rooms:,} with a tunnel"),
        ("tunnels", f"{result.total_edges:,} made or found"),
        ("by wing", ", ".join(f"{wing} {rooms:,}" for wing, rooms in result.rooms_per_wing.items()) or "none"),
    ]
    screen.table(("", ""), [((name, "dim"), text) for name, text in rows])
    if result.top_tunnels:
        screen.gap()
        _show_shared_rooms(screen, result.top_tunnels)
    if result.top_sharing:
        screen.gap()
        _show_room_pairs(screen, result.top_sharing)
    if result.top_names:
        screen.gap()
        names = [
            ((entity.name, "cyan"), (entity.kind, "dim"), f"{entity.drawers:,}", f"{entity.rooms:,}")
            for entity in result.top_names
        ]
        screen.table(("mentioned most", "", "drawers", "rooms"), names, right=(2, 3))


# --- parts -------------------------------------------------------------------------------------------------


def _tunnels(screen: Screen, tunnels: Sequence[TunnelView]) -> None:
    for tunnel in tunnels:
        screen.say((_end(tunnel.source), "cyan"), " → ", (_end(tunnel.target), "cyan"), f"  {tunnel.label}")
        screen.say((f"{INDENT}{tunnel.id}  {to_iso(tunnel.created_at)[:10]} by {tunnel.by}", "dim"))


def _end(end: EndView) -> str:
    drawers = f" ({count_noun(len(end.drawers), 'drawer')})" if end.drawers else ""
    return f"{end.wing}/{end.room}{drawers}"


def _show_shared_rooms(screen: Screen, rooms: Sequence[TogetherView]) -> None:
    rows = [
        (
            (room.room, "cyan"),
            ", ".join(room.wings),
            f"{room.count:,}",
            (_day(room.recent), "dim"),
            ", ".join(room.halls),
        )
        for room in rooms
    ]
    screen.table(("room", "wings", "drawers", "newest", "halls"), rows, right=(2,))


def _show_room_pairs(screen: Screen, pairs: Sequence[SharingView]) -> None:
    for pair in pairs:
        names = ", ".join(shared.name for shared in pair.names)
        more = pair.shared - len(pair.names)
        screen.say((pair.rooms[0], "cyan"), " and ", (pair.rooms[1], "cyan"))
        screen.say((f"{INDENT}share ", "dim"), f"{names}{f' and {more:,} more' if more else ''}")


def _of_all(screen: Screen, count: int, total: int, noun: str = "room") -> None:
    summary = count_noun(total, noun)
    if count < total:
        summary = f"{count:,} of {summary}; raise --limit for more"
    screen.say((summary, "dim"))


def _halls(halls: Mapping[str, int]) -> str:
    return ", ".join(f"{hall} {number:,}" for hall, number in halls.items())


def _via(via: str) -> Part:
    return (via, "dim")


def _day(moment: Micros) -> str:
    return to_iso(moment)[:10] if moment else ""
