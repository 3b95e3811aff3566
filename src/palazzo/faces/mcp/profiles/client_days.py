"""Times in the form that other memories' clients use: a day where Palazzo has a midnight."""

from __future__ import annotations

from datetime import date, timedelta

_MIDNIGHT = "T00:00:00Z"


def first_day(moment: str | None) -> str | None:
    """Return the day of a beginning that is a midnight; any other time unchanged."""
    return None if moment is None else moment.removesuffix(_MIDNIGHT)


def last_day(moment: str | None) -> str | None:
    """Return the last day before an end that is a midnight; any other time unchanged."""
    if moment is None or not moment.endswith(_MIDNIGHT):
        return moment
    return (date.fromisoformat(moment[:10]) - timedelta(days=1)).isoformat()
