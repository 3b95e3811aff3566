"""page_figures: what filters can be set to, and exchanges by day; content_figures: what the palace contains."""

from __future__ import annotations

import time
from collections import Counter
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from palazzo.features.sessions.stats import count_by_day
from palazzo.features.viewer.contract import (
    ContentFiguresRequest,
    ContentFiguresResult,
    PageFiguresRequest,
    PageFiguresResult,
)
from palazzo.features.viewer.drawer_figures import ARCHIVED_BYTES, DRAWER_FIGURES, WORDS, sum_by_hour
from palazzo.features.viewer.session_index import SESSION_INDEX
from palazzo.model import Micros
from palazzo.operations.caller_clock import zone
from palazzo.store import place_rows, size_samples
from palazzo.store.session_overview import HOUR

if TYPE_CHECKING:
    from datetime import tzinfo

    from palazzo.operations.context import Context


def page_figures(context: Context, request: PageFiguresRequest) -> PageFiguresResult:
    """Return what filters can be set to, and exchanges by day."""
    palace = context.reading()
    with palace.database.snapshot() as connection:
        wings = tuple(place_rows.wing_names(connection))
        hosts = SESSION_INDEX.read(palace, connection).hosts
        figures = DRAWER_FIGURES.read(palace, connection)
    return PageFiguresResult(wings, hosts, figures.drawers, count_by_day(figures.exchanges_by_hour, zone(context)))


def content_figures(context: Context, request: ContentFiguresRequest) -> ContentFiguresResult:
    """Count drawers by kind, age and trust, and drawers, words and bytes over time."""
    palace = context.reading()
    with palace.database.snapshot() as connection:
        figures = DRAWER_FIGURES.read(palace, connection)
        words = sum_by_hour(chain.from_iterable(WORDS.read(palace, connection).values()))
        archived_bytes = ARCHIVED_BYTES.read(palace, connection)
        sizes = size_samples.read(connection)
    timezone = zone(context)
    return ContentFiguresResult(
        by_kind=figures.by_kind,
        by_age=figures.by_age(Micros(time.time_ns() // 1_000)),
        by_trust=figures.by_trust,
        drawers=_levels_by_day(figures.by_hour, timezone),
        words=_levels_by_day(words, timezone),
        archived=_levels_by_day(archived_bytes.by_hour, timezone),
        sizes=sizes,
    )


def _levels_by_day(added_by_hour: dict[int, int], timezone: tzinfo) -> dict[str, int]:
    """Return what was there at the end of each local day on which something was added.

    What has no time counts from the first hour on. A time in the future, which a forged record may have, is now.
    """
    now = time.time_ns() // 1_000 // HOUR
    first = min((hour for hour in added_by_hour if 0 < hour <= now), default=now)
    clipped: Counter[int] = Counter()
    for hour, count in added_by_hour.items():
        clipped[min(max(hour, first), now)] += count
    added = count_by_day(clipped, timezone)
    return dict(zip(added, accumulate(added.values()), strict=True))
