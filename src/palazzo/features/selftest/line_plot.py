"""Line plots as an SVG file: one panel for each series, with its smallest, last and largest value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

_WIDTH, _HEIGHT, _GAP, _LEFT = 720, 90, 44, 70


@dataclass(frozen=True)
class Series:
    """Values over time."""

    title: str
    times: Sequence[float]
    values: Sequence[float]


def write_plot(path: Path, series: Sequence[Series], unit: str) -> None:
    """Write one panel below the other; the time axis, in `unit`, is the same for all."""
    height = len(series) * (_HEIGHT + _GAP) + _GAP
    panels = "\n".join(_panel(panel, n * (_HEIGHT + _GAP) + _GAP, unit) for n, panel in enumerate(series))
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH + _LEFT + 90}" height="{height}"'
        ' font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
        f"{panels}\n</svg>\n",
        encoding="utf-8",
    )


def _panel(series: Series, top: int, unit: str) -> str:
    high, end = max(series.values) or 1.0, max(series.times) or 1.0
    points = " ".join(
        f"{_LEFT + _WIDTH * time / end:.1f},{top + _HEIGHT * (1 - value / high):.1f}"
        for time, value in zip(series.times, series.values, strict=True)
    )
    bottom = top + _HEIGHT
    return "\n".join(
        (
            f'<text x="{_LEFT}" y="{top - 8}">{escape(series.title)}</text>',
            f'<path d="M{_LEFT} {top}V{bottom}H{_LEFT + _WIDTH}" fill="none" stroke="#888"/>',
            f'<text x="{_LEFT - 6}" y="{top + 10}" text-anchor="end">{high:,.1f}</text>',
            f'<text x="{_LEFT - 6}" y="{bottom}" text-anchor="end">0</text>',
            f'<text x="{_LEFT + _WIDTH}" y="{bottom + 14}" text-anchor="end">{end:,.0f} {escape(unit)}</text>',
            f'<polyline points="{points}" fill="none" stroke="#1f5fa8" stroke-width="1.5"/>',
            f'<text x="{_LEFT + _WIDTH + 6}" y="{top + _HEIGHT * (1 - series.values[-1] / high):.0f}">'
            f"{series.values[-1]:,.1f}</text>",
        )
    )
