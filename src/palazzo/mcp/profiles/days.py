"""Times as other memories' clients state them: a day where Palazzo has a midnight."""

from __future__ import annotations

from datetime import date, timedelta

_MIDNIGHT = "T00:00:00Z"


def first_day(moment: str | None) -> str | None:
    """Return when something began: the day where it is a midnight, else the time."""
    return None if moment is None else moment.removesuffix(_MIDNIGHT)


def last_day(moment: str | None) -> str | None:
    """Return when something ended: the last day that belongs to it where the end is a midnight, else the time."""
    if moment is None or not moment.endswith(_MIDNIGHT):
        return moment
    return (date.fromisoformat(moment[:10]) - timedelta(days=1)).isoformat()
