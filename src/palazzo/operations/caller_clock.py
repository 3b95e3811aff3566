"""The caller's clock: the boundaries of the caller's days, and the meaning of the times that the caller types.

Times are stored in UTC. A time that a person types without a zone (`tomorrow 9:00`, a day of a diary) is in the
machine's zone, or in the zone that `TZ` names.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from palazzo.errors import UsageError
from palazzo.model import Micros
from palazzo.text.future_times import parse_ahead
from palazzo.text.times import NotATime, Stretch, parse_stretch

if TYPE_CHECKING:
    from palazzo.operations.context import Context


class MachineZone(tzinfo):
    """The operating system's time zone, with daylight saving time. Its name is not available on every system."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MachineZone)

    def __hash__(self) -> int:
        return hash(MachineZone)

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """Return how far the local clock is ahead of UTC when it shows `moment`."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, moment: datetime | None) -> timedelta | None:
        """Return None: how much of the offset is summer time is not known."""
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        """Return the system's short name for the zone."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, moment: datetime) -> datetime:
        """Return the local time at a moment in UTC."""
        local_time = moment.replace(tzinfo=UTC).astimezone()
        first = local_time.replace(tzinfo=self, fold=0)
        return first if first.utcoffset() == local_time.utcoffset() else first.replace(fold=1)


def zone(context: Context) -> tzinfo:
    """Return the caller's time zone."""
    zone_name = context.variables.get("TZ", "").removeprefix(":")
    if zone_name:
        try:
            return ZoneInfo(zone_name)
        except (KeyError, OSError, ValueError):  # a rule such as `CET-1CEST`, which the system reads
            pass
    return MachineZone()


def whole_days(context: Context, option: str, text: str) -> Stretch:
    """Read a day or a longer period (`yesterday`, `last week`); an instant (`3 days ago`) means its day.

    Raises UsageError, which names the option, if the text is not a time.
    """
    timezone = zone(context)
    try:
        stretch = parse_stretch(text, context.now, timezone)
        return (
            stretch
            if stretch.start < stretch.end
            else parse_stretch(day(stretch.start, timezone), context.now, timezone)
        )
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def to_come(context: Context, option: str, text: str) -> Stretch:
    """Read a future time (`friday`, `in 2 hours`); raise UsageError, which names the option, if it is not a time."""
    try:
        return parse_ahead(text, context.now, zone(context))
    except NotATime as error:
        subject = str(error).partition(" is not a time")[0]
        raise UsageError(
            f"{option}: {subject} is not a future time: give a duration (30m, 2h, 3 days), a date (2030-03-04), a date "
            "and time (2030-03-04T10:22Z) or a name (tomorrow, friday, next week)."
        ) from None
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def day(at: Micros, timezone: tzinfo) -> str:
    """Return the local date at a moment: `2026-03-04`."""
    return f"{_to_local_time(at, timezone):%Y-%m-%d}"


def day_and_time(at: Micros, timezone: tzinfo) -> str:
    """Return the local time at a moment, with its zone: `2026-03-04 10:22 CET`."""
    return f"{_to_local_time(at, timezone):%Y-%m-%d %H:%M %Z}"


def _to_local_time(at: Micros, timezone: tzinfo) -> datetime:
    try:
        return datetime.fromtimestamp(at // 1_000_000, timezone)
    except (ValueError, OverflowError):  # the first or last hours of the calendar, which have no other day there
        return datetime.fromtimestamp(at // 1_000_000, UTC)
