"""The card: the figures of `stats` as an SVG picture, with a calendar of the last year and nothing of the content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from palazzo.text.count_phrases import count_noun

if TYPE_CHECKING:
    from palazzo.features.sessions.contract import StatsResult

MARK = b"Made by Palazzo: a card of stats"
"""By this a card is recognised, so that only a card is overwritten."""
_WIDTH, _HEIGHT, _MARGIN = 840, 330, 30
_CELL, _GAP = 11, 3
_WEEKS = 53
_CALENDAR_LEFT, _CALENDAR_TOP = 60, 178
_MOST_HOSTS = 6
_LEVELS = 4
_STYLE = """
    .paper { fill: #ffffff; stroke: #d8dee4 }
    text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #59636e }
    .name { font-size: 20px; font-weight: 600; fill: #1f2328 }
    .figure { font-size: 26px; font-weight: 600; fill: #1f2328 }
    .small { font-size: 12px }
    .tiny { font-size: 10px }
    .level0 { fill: #ebedf0 } .level1 { fill: #c9b8f0 } .level2 { fill: #a184e0 } .level3 { fill: #7a54c7 }
    .level4 { fill: #4f2d97 }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117; stroke: #3d444d }
      text { fill: #9198a1 }
      .name, .figure { fill: #f0f6fc }
      .level0 { fill: #21262d } .level1 { fill: #3c2a6b } .level2 { fill: #5f43a6 } .level3 { fill: #8b6fd6 }
      .level4 { fill: #c4b1f5 }
    }
"""


def draw_card(result: StatsResult, today: date) -> str:
    """Return the card as an SVG document."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}"'
            f' viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(_summary(result))}">',
            f"  <!-- {MARK.decode()} -->",
            f"  <style>{_STYLE}  </style>",
            f'  <rect class="paper" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{_HEIGHT - 1}" rx="12"/>',
            *_head(result),
            *_figures(result),
            *_calendar(result.by_day, today),
            "</svg>",
            "",
        ]
    )


def _summary(result: StatsResult) -> str:
    return f"{count_noun(result.sessions, 'session')} on {count_noun(result.days, 'day')}"


def _head(result: StatsResult) -> Iterator[str]:
    yield _text(_MARGIN, 46, "name", "What my agents remember")
    if result.first_day is not None:
        yield _text(_WIDTH - _MARGIN, 46, "small", f"since {result.first_day}", anchor="end")
    hosts = list(result.by_host.items())
    names = [f"{host} {count:,}" for host, count in hosts[:_MOST_HOSTS]]
    if len(hosts) > _MOST_HOSTS:
        names.append(f"{len(hosts) - _MOST_HOSTS} others")
    yield _text(_MARGIN, 136, "small", "  ·  ".join(names))


def _figures(result: StatsResult) -> Iterator[str]:
    figures = (
        (f"{result.sessions:,}", "session" if result.sessions == 1 else "sessions"),
        (f"{result.days:,}", "day" if result.days == 1 else "days"),
        (count_noun(result.longest_streak, "day"), "longest streak"),
        (abbreviate(result.words), "words kept"),
        (abbreviate(result.answers), "answers given"),
    )
    step = (_WIDTH - 2 * _MARGIN) / len(figures)
    for n, (figure, label) in enumerate(figures):
        yield _text(_MARGIN + n * step, 92, "figure", figure)
        yield _text(_MARGIN + n * step, 111, "small", label)


def abbreviate(number: int) -> str:
    """Return a number with at most four characters of digits: `1,234`, `56.7 k`, `8.9 M`."""
    for limit, unit in ((10**9, " G"), (10**6, " M"), (10**4, " k")):
        if number >= limit:
            return f"{number / (1000 if unit == ' k' else limit):.1f}{unit}"
    return f"{number:,}"


def _calendar(by_day: Mapping[str, int], today: date) -> Iterator[str]:
    """Yield a square for each day of the last 53 weeks; columns are weeks that begin on Monday."""
    first = today - timedelta(days=today.weekday() + 7 * (_WEEKS - 1))
    limits = level_limits([count for day, count in by_day.items() if day >= first.isoformat()])
    for row, name in ((0, "Mon"), (2, "Wed"), (4, "Fri")):
        yield _text(_CALENDAR_LEFT - 8, _CALENDAR_TOP + row * (_CELL + _GAP) + 9, "tiny", name, anchor="end")
    for n in range((today - first).days + 1):
        day = first + timedelta(days=n)
        x, y = _CALENDAR_LEFT + n // 7 * (_CELL + _GAP), _CALENDAR_TOP + n % 7 * (_CELL + _GAP)
        if day.weekday() == 0 and day.day <= 7 and n // 7 < _WEEKS - 2:
            yield _text(x, _CALENDAR_TOP - 8, "tiny", f"{day:%b}")
        level = sum(by_day.get(day.isoformat(), 0) >= limit for limit in limits)
        yield f'  <rect class="level{level}" x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" rx="2"/>'
    bottom = _CALENDAR_TOP + 7 * (_CELL + _GAP) + 20
    yield _text(_MARGIN, bottom, "tiny", "exchanges with coding agents per day, kept on this machine by Palazzo")
    legend_left = _WIDTH - _MARGIN - 5 * (_CELL + _GAP) - 34
    yield _text(legend_left - 6, bottom, "tiny", "less", anchor="end")
    for level in range(_LEVELS + 1):
        x = legend_left + level * (_CELL + _GAP)
        yield f'  <rect class="level{level}" x="{x}" y="{bottom - 9}" width="{_CELL}" height="{_CELL}" rx="2"/>'
    yield _text(legend_left + 5 * (_CELL + _GAP) + 3, bottom, "tiny", "more")


def level_limits(counts: list[int]) -> list[int]:
    """Return the least counts of the four levels of colour: quarters of a busy day, which few days exceed."""
    if not counts:
        return []
    busy = sorted(counts)[len(counts) * 19 // 20]
    return [1, *(max(2, -(-busy * n // _LEVELS)) for n in range(1, _LEVELS))]


def _text(x: float, y: float, style: str, words: str, anchor: str = "start") -> str:
    end = ' text-anchor="end"' if anchor == "end" else ""
    return f'  <text class="{style}" x="{x:g}" y="{y:g}"{end}>{escape(words)}</text>'
