"""Times as MemPalace writes them: of drawers by the clock of the machine, of facts in UTC or as days."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from palazzo.feeders import moments
from palazzo.model import Micros
from palazzo.text.times import parse_end, parse_start

_ZONED = re.compile(r"(?:[zZ]|[+-][0-9]{2}:?[0-9]{2})$")
_STRETCH = re.compile(r"[0-9]{4}(?:-[0-9]{2}){0,2}", re.ASCII)
"""A year, a month or a day."""
_NEVER = Micros(0)


def moment(told: object) -> Micros | None:
    """Return when a drawer was filed; None for what is no time. One without a zone is by the clock of this machine."""
    if isinstance(told, str) and not _ZONED.search(told.strip()):
        try:
            told = datetime.fromisoformat(told.strip()).astimezone().isoformat()
        except (ValueError, OverflowError, OSError):
            return None
    return moments.moment(told)


def day(told: object) -> Micros | None:
    """Return when a day began by the clock of this machine."""
    return moment(f"{told}T00:00:00") if isinstance(told, str) and _STRETCH.fullmatch(told) else None


def start(told: str) -> Micros | None:
    """Return when a fact began to hold, in UTC."""
    if _STRETCH.fullmatch(told):
        return _within(parse_start, told)
    return moments.moment(told)


def end(told: str) -> Micros | None:
    """Return the first moment at which a fact no longer held: a day, month or year that is named belongs to it."""
    if _STRETCH.fullmatch(told):
        return _within(parse_end, told)
    return moments.moment(told)


def _within(read: Callable[[str, Micros], Micros], told: str) -> Micros | None:
    try:
        return read(told, _NEVER)
    except ValueError:
        return None
