"""Times in the format of other memories' clients: midnight in Palazzo is shown as a day."""

from __future__ import annotations

from datetime import date, timedelta

_MIDNIGHT = "T00:00:00Z"


def first_day(moment: str | None) -> str | None:
    """Return the day of a start that is at midnight; any other time unchanged."""
    return None if moment is None else moment.removesuffix(_MIDNIGHT)


def last_day(moment: str | None) -> str | None:
    """Return the last day before an end that is at midnight; any other time unchanged."""
    if moment is None or not moment.endswith(_MIDNIGHT):
        return moment
    return (date.fromisoformat(moment[:10]) - timedelta(days=1)).isoformat()
