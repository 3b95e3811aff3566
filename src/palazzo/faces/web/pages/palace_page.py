"""The palace as a map: size is what is in a room, colour its age, lines are tunnels. And the content of one room."""

from __future__ import annotations

import asyncio
import time

from starlette.requests import Request
from starlette.responses import Response

from palazzo.faces.web.page_answer import answer_page, calls_of
from palazzo.faces.web.page_calls import read_filters, read_number, request_values
from palazzo.faces.web.place_map import HEIGHT, WIDTH, MappedRoom, draw_tunnels, lay_out

ROOM_FILTERS = ("wing", "room", "kind", "tags", "since", "until")
_DRAWERS = 50
_MOST_OFFSET = 100_000_000


async def show(request: Request) -> Response:
    """Show the map of the palace, or of one wing."""
    calls = calls_of(request)
    wing = request.query_params.get("wing") or None
    listed, tunnels = await asyncio.gather(calls.run("room_list", wing=wing), calls.run("tunnel_list", wing=wing))
    rooms = [MappedRoom(room.wing, room.room, room.drawers, room.recent) for room in listed.rooms]
    wings = lay_out(rooms, time.time_ns() // 1_000)
    lines = draw_tunnels(
        wings,
        (
            (tunnel.source.wing, tunnel.source.room, tunnel.target.wing, tunnel.target.room, tunnel.label)
            for tunnel in tunnels.tunnels
        ),
    )
    return answer_page(
        request,
        "palace.html",
        page="palace",
        wings=wings,
        lines=lines,
        tunnels=tunnels.tunnels,
        wing=wing,
        width=WIDTH,
        height=HEIGHT,
    )


async def show_room(request: Request) -> Response:
    """Show the drawers of a room, newest first, and the rooms that are connected with it."""
    calls = calls_of(request)
    filters = read_filters(request.query_params, ROOM_FILTERS)
    offset = read_number(request.query_params.get("offset"), "offset", 0, _MOST_OFFSET)
    listed = await calls.run(
        "list_drawers", limit=_DRAWERS, offset=offset or None, **request_values("list_drawers", filters)
    )
    return answer_page(request, "room.html", page="palace", filters=filters, listed=listed, limit=_DRAWERS)
