"""The map of the palace: wings and rooms as a squarified treemap, and tunnels as lines between rooms. Pure.

The layout is that of Bruls, Huizing and van Wijk, "Squarified Treemaps" (2000): rectangles are laid in rows along the
shorter side, and a row is closed when one more rectangle would make its worst proportion worse.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from palazzo.frozen_class import frozen

WIDTH, HEIGHT = 1_000.0, 600.0
_HEADING, _GAP = 18.0, 3.0
_DAY = 86_400_000_000
_AGES = ((2, "today"), (8, "week"), (31, "month"), (92, "quarter"))
"""Classes of age by the days since the newest drawer, for the colours of the style sheet."""


class Box(NamedTuple):
    """A rectangle on the map."""

    x: float
    y: float
    width: float
    height: float

    @property
    def center(self) -> tuple[float, float]:
        """Return the middle."""
        return self.x + self.width / 2, self.y + self.height / 2


class MappedRoom(NamedTuple):
    """What the map needs of a room: its place, its drawers, and the time of the newest."""

    wing: str
    room: str
    drawers: int
    recent: int


@frozen
class RoomBox:
    """A room on the map; `age` is a class of its newest drawer's age."""

    room: MappedRoom
    box: Box
    age: str


@frozen
class WingBox:
    """A wing on the map, and its rooms."""

    wing: str
    drawers: int
    box: Box
    rooms: tuple[RoomBox, ...]


@frozen
class TunnelLine:
    """A tunnel on the map."""

    start: tuple[float, float]
    end: tuple[float, float]
    label: str


def lay_out(rooms: Iterable[MappedRoom], now: int) -> tuple[WingBox, ...]:
    """Return the wings on the map, the largest first; empty rooms have the size of one drawer."""
    by_wing: dict[str, list[MappedRoom]] = {}
    for room in rooms:
        by_wing.setdefault(room.wing, []).append(room)
    wings = sorted(by_wing.items(), key=lambda entry: (-_size(entry[1]), entry[0]))
    boxes = squarify([_size(own) for _, own in wings], Box(0, 0, WIDTH, HEIGHT))
    return tuple(
        WingBox(wing, sum(room.drawers for room in own), box, _lay_out_rooms(own, box, now))
        for (wing, own), box in zip(wings, boxes, strict=True)
    )


def _lay_out_rooms(rooms: list[MappedRoom], box: Box, now: int) -> tuple[RoomBox, ...]:
    rooms = sorted(rooms, key=lambda room: (-room.drawers, room.room))
    heading = min(_HEADING, box.height / 3)
    inner = Box(box.x + _GAP, box.y + heading, max(box.width - 2 * _GAP, 1), max(box.height - heading - _GAP, 1))
    boxes = squarify([max(room.drawers, 1) for room in rooms], inner)
    return tuple(RoomBox(room, box, age_class(room.recent, now)) for room, box in zip(rooms, boxes, strict=True))


def _size(rooms: Sequence[MappedRoom]) -> float:
    """Return the area of a wing: the square root keeps small wings visible beside a large one."""
    return math.sqrt(sum(max(room.drawers, 1) for room in rooms))


def age_class(recent: int, now: int) -> str:
    """Return the class of a time's age."""
    days = (now - recent) / _DAY
    return next((name for limit, name in _AGES if days < limit), "older")


def draw_tunnels(wings: Iterable[WingBox], tunnels: Iterable[tuple[str, str, str, str, str]]) -> tuple[TunnelLine, ...]:
    """Return the tunnels (wing, room, wing, room, label) of which both ends are on the map."""
    centers = {(room.room.wing, room.room.room): room.box.center for wing in wings for room in wing.rooms}
    return tuple(
        TunnelLine(centers[wing, room], centers[other_wing, other_room], label)
        for wing, room, other_wing, other_room, label in tunnels
        if (wing, room) in centers and (other_wing, other_room) in centers
    )


def squarify(sizes: Sequence[float], box: Box) -> list[Box]:
    """Return a rectangle in `box` for each size, in the order of the sizes, which is descending."""
    total = sum(sizes)
    scale = box.width * box.height / total if total else 0.0
    areas = [size * scale for size in sizes]
    boxes: list[Box] = []
    start = 0
    while start < len(areas):
        side = min(box.width, box.height)
        end = start + 1
        while end < len(areas) and _worst(areas[start : end + 1], side) <= _worst(areas[start:end], side):
            end += 1
        row, box = _lay_row(areas[start:end], box)
        boxes += row
        start = end
    return boxes


def _worst(areas: Sequence[float], side: float) -> float:
    """Return the worst proportion of a row of rectangles along a side."""
    total = sum(areas)
    if not total or not side:
        return float("inf")
    return max(max(side**2 * area / total**2, total**2 / (side**2 * area)) for area in areas)


def _lay_row(areas: Sequence[float], box: Box) -> tuple[list[Box], Box]:
    """Return the rectangles of a row along the shorter side, and what remains of the box."""
    total, row = sum(areas), []
    if box.width >= box.height:
        width = total / box.height if box.height else 0.0
        y = box.y
        for area in areas:
            height = area / width if width else 0.0
            row.append(Box(box.x, y, width, height))
            y += height
        return row, Box(box.x + width, box.y, max(box.width - width, 0.0), box.height)
    height = total / box.width if box.width else 0.0
    x = box.x
    for area in areas:
        width = area / height if height else 0.0
        row.append(Box(x, box.y, width, height))
        x += width
    return row, Box(box.x, box.y + height, box.width, max(box.height - height, 0.0))
