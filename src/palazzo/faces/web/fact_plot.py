"""Facts on two axes of time: from left to right when a fact held, from top to bottom when it was recorded. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Protocol

from palazzo.frozen_class import frozen

WIDTH = 1_000.0
_LEAST_HEIGHT, _MOST_HEIGHT, _MARGIN = 60.0, 360.0, 16.0
_LEAST_WIDTH, _LEAST_THICKNESS, _THICKNESS, _ROW = 4.0, 2.0, 6.0, 12.0


class TimedFact(Protocol):
    """What the plot needs of a fact; times are ISO-8601, and null if unknown or not yet."""

    @property
    def id(self) -> str:
        """The id."""
        ...

    @property
    def valid_from(self) -> str | None:
        """Since when it held."""
        ...

    @property
    def valid_to(self) -> str | None:
        """Until when it held."""
        ...

    @property
    def recorded_at(self) -> str:
        """When it was recorded."""
        ...


@frozen
class FactBar:
    """A fact on the plot; it is `open` if it still holds."""

    fact: TimedFact
    x: float
    y: float
    width: float
    open: bool


@frozen
class FactPlot:
    """The bars, their thickness, the height of the plot, and the days at the ends of both axes."""

    bars: tuple[FactBar, ...]
    thickness: float
    height: float
    first_held: str
    last_held: str
    first_recorded: str
    last_recorded: str


def plot_facts(facts: Sequence[TimedFact], now: datetime) -> FactPlot | None:
    """Return the plot of facts; None if there are none. A fact of unknown start begins at the left edge."""
    if not facts:
        return None
    starts = [None if fact.valid_from is None else _read(fact.valid_from) for fact in facts]
    ends = [now if fact.valid_to is None else _read(fact.valid_to) for fact in facts]
    recorded = [_read(fact.recorded_at) for fact in facts]
    known_starts = [start for start in starts if start is not None]
    left, right = min([*known_starts, *recorded]), max([*ends, *known_starts, now])
    top, bottom = min(recorded), max(recorded)
    height = min(max(_ROW * len(facts) + 2 * _MARGIN, _LEAST_HEIGHT), _MOST_HEIGHT)
    room = height - 2 * _MARGIN
    gap = min(_ROW, room / len(facts))
    rows = spread([_scale(at, top, bottom, room) for at in recorded], gap, room)
    bars = []
    for fact, start, end, row in zip(facts, starts, ends, rows, strict=True):
        x = _scale(start or left, left, right, WIDTH)
        width = max(_scale(end, left, right, WIDTH) - x, _LEAST_WIDTH)
        bars.append(FactBar(fact, round(x, 1), round(_MARGIN + row, 1), round(width, 1), fact.valid_to is None))
    thickness = round(max(min(_THICKNESS, gap - 1), _LEAST_THICKNESS), 1)
    days = (f"{moment:%Y-%m-%d}" for moment in (left, right, top, bottom))
    return FactPlot(tuple(bars), thickness, height, *days)


def spread(places: Sequence[float], gap: float, end: float) -> list[float]:
    """Return places between 0 and `end` in the same order, each at least `gap` after the one before.

    Facts are often recorded together: at their exact times, one bar would hide the others.
    """
    order = sorted(range(len(places)), key=lambda number: places[number])
    spread_places = [*places]
    for before, number in pairwise(order):
        spread_places[number] = max(spread_places[number], spread_places[before] + gap)
    limit = end
    for number in reversed(order):
        spread_places[number] = min(spread_places[number], limit)
        limit = spread_places[number] - gap
    return spread_places


def _scale(moment: datetime, first: datetime, last: datetime, size: float) -> float:
    span = (last - first).total_seconds()
    return size * (moment - first).total_seconds() / span if span else 0.0


def _read(text: str) -> datetime:
    return datetime.fromisoformat(text)
