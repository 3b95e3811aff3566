"""Source times: the time at which a source says something was written, as microseconds since 1970 UTC.

Hosts write ISO 8601 with `Z`, with an offset or without a zone (taken as UTC), or numbers of seconds, milliseconds,
microseconds or nanoseconds. Anything else gives no time at all, rather than a wrong one.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from palazzo.model import Micros

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_EARLIEST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_UNITS = ((1e11, 1_000_000.0), (1e14, 1_000.0), (1e17, 1.0), (math.inf, 0.001))
"""Below the first number (1e11 seconds is the year 5138), one unit is this many microseconds."""


def moment(value: object) -> Micros | None:
    """Return the time that `value` states, or None if it states none."""
    if isinstance(value, str):
        text = value.strip()
        if text.isascii() and text.isdigit() and 10 <= len(text) <= 20:
            return _of_number(int(text))
        return _of_text(text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _of_number(value)
    return None


def _of_text(text: str) -> Micros | None:
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    aware = read if read.tzinfo else read.replace(tzinfo=UTC)
    return Micros((aware - _EPOCH) // timedelta(microseconds=1))


def _of_number(number: float) -> Micros | None:
    if isinstance(number, float) and not math.isfinite(number):
        return None
    scale = next(scale for bound, scale in _UNITS if abs(number) < bound or bound == math.inf)
    if isinstance(number, int):
        micros = number * int(scale) if scale >= 1 else number // 1000
    else:
        micros = int(number * scale)
    return Micros(micros) if _EARLIEST <= micros <= _LATEST else None
