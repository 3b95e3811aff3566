"""stats: figures of past sessions, over time and by host."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.errors import PalazzoError, UsageError
from palazzo.features.sessions import session_rows
from palazzo.features.sessions.contract import StatsRequest, StatsResult
from palazzo.features.sessions.stats_card import MARK, draw_card
from palazzo.model import Micros
from palazzo.operations.caller_clock import day, zone
from palazzo.store import ledger, session_overview
from palazzo.store.session_overview import HOUR

if TYPE_CHECKING:
    from datetime import tzinfo

    from palazzo.operations.context import Context


def stats(context: Context, request: StatsRequest) -> StatsResult:
    """Show figures of your sessions: how many, on how many days, with which hosts, what is kept and was used."""
    card = None if request.card is None else _check_card(context.led_to(request.card))
    timezone = zone(context)
    with context.reading().database.snapshot() as connection:
        sessions = session_rows.list_sessions(connection, session_overview.SessionFilter(), None)
        by_day = count_by_day(session_overview.exchanges_by_hour(connection), timezone)
        words = session_overview.count_words(connection)
        totals = ledger.totals(connection)
    result = StatsResult(
        sessions=len(sessions),
        days=len(by_day),
        first_day=min(by_day, default=None),
        last_day=max(by_day, default=None),
        longest_streak=longest_streak(by_day),
        exchanges=sum(by_day.values()),
        words=words,
        answers=totals.injections,
        parts=totals.given,
        used=totals.used,
        by_host=dict(Counter(session.host for session in sessions).most_common()),
        by_day=by_day,
        card=card,
    )
    if card is not None:
        _write_card(card, draw_card(result, date.fromisoformat(day(context.now, timezone))))
    return result


def count_by_day(counts_by_hour: Mapping[int, int], timezone: tzinfo) -> dict[str, int]:
    """Return counts by local day, in order, from counts by hour since 1970."""
    counts: Counter[str] = Counter()
    days = _known_days(timezone, time.tzname)
    for hour, count in sorted(counts_by_hour.items()):
        name = days.get(hour)
        if name is None:
            name = days[hour] = day(Micros(hour * HOUR), timezone)
        counts[name] += count
    return dict(counts)


@lru_cache(maxsize=8)
def _known_days(timezone: tzinfo, machine_zone: tuple[str, str]) -> dict[int, str]:
    """Return the local days of hours that are known. Years have thousands of hours, and asking a zone takes long."""
    return {}


def longest_streak(days: Iterable[str]) -> int:
    """Return the largest number of consecutive days."""
    dates = {date.fromisoformat(text) for text in days}
    longest = 0
    for first in dates:
        if first - timedelta(days=1) not in dates:
            length = 1
            while first + timedelta(days=length) in dates:
                length += 1
            longest = max(longest, length)
    return longest


def _check_card(path: Path) -> Path:
    """Return the path of the card; UsageError if it is another file's."""
    if path.is_dir():
        raise UsageError(f"{path} is a directory; name a file, such as {path / 'palazzo.svg'}.")
    if path.exists() and MARK not in path.read_bytes()[:1000]:
        raise UsageError(f"{path} exists and is not a card of Palazzo, so it is not overwritten; name another file.")
    return path


def _write_card(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PalazzoError(f"{path} cannot be written ({error.strerror}); name another file.") from None
