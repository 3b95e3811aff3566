"""Plots as figures for SVG: positions and heights, computed from counts. The templates draw them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from palazzo.frozen_class import frozen

_FEWEST_DAYS, _MOST_DAYS = 30, 366


@frozen
class Bar:
    """A bar of a plot: its place and size in units of the plot, what it counts, its day and the day after it."""

    x: float
    height: float
    count: float
    label: str
    next: str


@frozen
class BarPlot:
    """Bars side by side, each one unit wide, on a plot that is `width` wide and 100 high."""

    bars: tuple[Bar, ...]
    width: int
    largest: float
    first: str
    last: str


def day_bars(counts: Mapping[str, float], days: int | None = None) -> BarPlot:
    """Return a bar for each day up to the last day with a count; `counts` are by ISO date.

    Without `days` the plot begins with the first day, or shows the last 366.
    """
    last = date.fromisoformat(max(counts, default=date.today().isoformat()))
    if days is None:
        first = date.fromisoformat(min(counts, default=last.isoformat()))
        days = min(max((last - first).days + 1, _FEWEST_DAYS), _MOST_DAYS)
    shown_days = [last - timedelta(days=days - 1 - n) for n in range(days)]
    values = [counts.get(day.isoformat(), 0) for day in shown_days]
    largest = max(values)
    bars = tuple(
        Bar(n, round(100 * value / largest, 2), value, day.isoformat(), (day + timedelta(days=1)).isoformat())
        for n, (day, value) in enumerate(zip(shown_days, values, strict=True))
        if value
    )
    return BarPlot(bars, days, largest, shown_days[0].isoformat(), last.isoformat())


def level_bars(levels: Mapping[str, float]) -> BarPlot:
    """Return a bar for each day from the first level on; a day without one has the level of the day before."""
    if not levels:
        return day_bars(levels)
    last = date.fromisoformat(max(levels))
    first = max(date.fromisoformat(min(levels)), last - timedelta(days=_MOST_DAYS - 1))
    filled: dict[str, float] = {}
    level = next((levels[day] for day in sorted(levels, reverse=True) if day < first.isoformat()), 0.0)
    for n in range((last - first).days + 1):
        day = (first + timedelta(days=n)).isoformat()
        level = filled[day] = levels.get(day, level)
    return day_bars(filled)
