"""Times as MemPalace writes them: for drawers in the machine's local time, for facts in UTC or as days."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from palazzo.model import Micros
from palazzo.sources.formats import source_times
from palazzo.text.times import parse_end, parse_start

_ZONE_PATTERN = re.compile(r"(?:[zZ]|[+-][0-9]{2}:?[0-9]{2})$")
_STRETCH = re.compile(r"[0-9]{4}(?:-[0-9]{2}){0,2}", re.ASCII)
"""A year, a month or a day."""
_NEVER = Micros(0)


def moment(value: object) -> Micros | None:
    """Return a drawer's filing time; None if it is not a time. One without a zone is in this machine's local time."""
    if isinstance(value, str) and not _ZONE_PATTERN.search(value.strip()):
        try:
            value = datetime.fromisoformat(value.strip()).astimezone().isoformat()
        except (ValueError, OverflowError, OSError):
            return None
    return source_times.moment(value)


def day(value: object) -> Micros | None:
    """Return when a day began in this machine's local time."""
    return moment(f"{value}T00:00:00") if isinstance(value, str) and _STRETCH.fullmatch(value) else None


def start(text: str) -> Micros | None:
    """Return when a fact began to hold, in UTC."""
    if _STRETCH.fullmatch(text):
        return _parse_or_none(parse_start, text)
    return source_times.moment(text)


def end(text: str) -> Micros | None:
    """Return the first moment at which a fact no longer held; a named day, month or year is included."""
    if _STRETCH.fullmatch(text):
        return _parse_or_none(parse_end, text)
    return source_times.moment(text)


def _parse_or_none(read: Callable[[str, Micros], Micros], text: str) -> Micros | None:
    try:
        return read(text, _NEVER)
    except ValueError:
        return None
