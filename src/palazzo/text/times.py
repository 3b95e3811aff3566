"""Times as people and files write them, to and from microseconds since 1970-01-01 UTC.

This module owns the grammar of times. It never asks for the current time (the caller says what `now` is)
and never for the machine's time zone: a time without a zone is UTC.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from palazzo.model import Micros

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_iso(micros: Micros) -> str:
    """Write a time as ISO-8601 in UTC: `2026-03-04T10:22:31Z`, or `…31.250Z` when milliseconds are not zero.

    What is finer than a millisecond is cut off. Raises OverflowError outside the years 1 to 9999.
    """
    moment = _moment(micros)
    milliseconds = moment.microsecond // 1000
    fraction = f".{milliseconds:03d}" if milliseconds else ""
    return f"{moment.replace(microsecond=0, tzinfo=None).isoformat()}{fraction}Z"


def parse_when(text: str, now: Micros) -> Micros:
    """Read the time that a person or an agent means by `text`; `now` is what relative times count from.

    Accepted, in any case:

    * ISO-8601: `2026-03-04`, `2026-03-04 10:22`, `2026-03-04T10:22:31.5+01:00`, `2026-W10-3`. A date alone
      is its midnight; `2026-03` and `2026` are the first midnight of the month or year;
    * an age: `3h`, `2 days ago`, `an hour ago`, `1w` (units s, m, h, d, w, mo, y and their English names;
      `m` is minutes), or the same ahead: `in 2 days`. Months and years are calendar ones;
    * `now`, and the names of days and spans, each meaning its first instant: `today`, `yesterday`,
      `tomorrow`, `monday` or `last monday` (the latest one before today), `this week`, `last week` (its
      Monday), `this month`, `last month`, `this year`, `last year`.

    Raises ValueError, with one sentence naming what is accepted, for anything else.
    """
    said = " ".join(text.split()).casefold()
    try:
        for reading in (_iso_moment, _partial_date):
            moment = reading(said)
            if moment is not None:
                return _micros(moment)
        for relative in (_named, _counted):
            moment = relative(said, _moment(now))
            if moment is not None:
                return _micros(moment)
    except (OverflowError, ValueError):  # a year such as 99999, or month 13
        pass
    shown = text if len(text) <= 60 else f"{text[:60]}…"
    raise ValueError(
        f"'{shown}' is not a time: give a date (2026-03-04), a date and time (2026-03-04T10:22Z), "
        "an age (3h, 2 days ago) or a name (now, today, yesterday, monday, last week)."
    )


def parse_timestamp(value: object) -> Micros | None:
    """Read a timestamp from somebody else's file, or return None for what is not one.

    Accepts ISO-8601 text and epoch numbers (also as text, as Slack writes them) in seconds, milliseconds,
    microseconds or nanoseconds, told apart by size. Times before March 1973 (10**8 seconds) are None: they
    are the zero values of Go, .NET and C, or numbers that count something else.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _from_number(value)
    if isinstance(value, str):
        return _from_text(value.strip())
    return None


_EARLIEST_SECOND = 10**8
_LATEST = Micros((datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND)
_DECIMAL = re.compile(r"[0-9]{9,20}(\.[0-9]{1,9})?", re.ASCII)
_LONGEST_TIMESTAMP = 64


def _from_text(text: str) -> Micros | None:
    if len(text) > _LONGEST_TIMESTAMP:
        return None
    decimal = _DECIMAL.fullmatch(text)
    if decimal:
        return _from_number(float(text) if decimal[1] else int(text))
    try:
        moment = _iso_moment(text)
        found = _micros(moment) if moment is not None else None
    except (OverflowError, ValueError):
        return None
    return _plausible(found)


def _from_number(number: int | float) -> Micros | None:
    """Every unit's numbers are 1,000 times the last one's: 10**11 seconds is the year 5138."""
    if not _EARLIEST_SECOND <= number < 10**20:  # also false for NaN
        return None
    if number < 10**11:
        return _plausible(Micros(round(number * 10**6)))
    if number < 10**14:
        return _plausible(Micros(round(number * 1000)))
    if number < 10**17:
        return _plausible(Micros(round(number)))
    return _plausible(Micros(int(number) // 1000))


def _plausible(micros: Micros | None) -> Micros | None:
    if micros is None or not _EARLIEST_SECOND * 10**6 <= micros <= _LATEST:
        return None
    return micros


def _moment(micros: Micros) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def _micros(moment: datetime) -> Micros:
    return Micros((moment - _EPOCH) // _MICROSECOND)


_SPACE_BEFORE_ZONE = re.compile(r"(?<=[0-9]) (?=[+-][0-9]{2}:?[0-9]{2}$|z$|utc$)", re.IGNORECASE)
_ISO_START = re.compile(r"[0-9]{4}-?[0-9wW]")


def _iso_moment(text: str) -> datetime | None:
    """Read ISO-8601, and the forms of git (a space before the zone) and of logs (`UTC` for `Z`)."""
    if not _ISO_START.match(text):
        return None
    tidy = _SPACE_BEFORE_ZONE.sub("", text)
    if tidy[-3:].casefold() == "utc":
        tidy = f"{tidy[:-3]}Z"
    try:
        moment = datetime.fromisoformat(tidy.upper())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


_PARTIAL = re.compile(r"([0-9]{4})(?:-([0-9]{1,2}))?")


def _partial_date(said: str) -> datetime | None:
    match = _PARTIAL.fullmatch(said)
    return datetime(int(match[1]), int(match[2] or 1), 1, tzinfo=UTC) if match else None


_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _day(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _week(now: datetime) -> datetime:
    return _day(now) - timedelta(days=now.weekday())


def _month(now: datetime) -> datetime:
    return _day(now).replace(day=1)


def _year(now: datetime) -> datetime:
    return _month(now).replace(month=1)


_NAMES: dict[str, Callable[[datetime], datetime]] = {
    "now": lambda now: now,
    "today": _day,
    "yesterday": lambda now: _day(now) - timedelta(days=1),
    "tomorrow": lambda now: _day(now) + timedelta(days=1),
    "this week": _week,
    "last week": lambda now: _week(now) - timedelta(days=7),
    "this month": _month,
    "last month": lambda now: _months_on(_month(now), -1),
    "this year": _year,
    "last year": lambda now: _months_on(_year(now), -12),
}


def _named(said: str, now: datetime) -> datetime | None:
    if said in _NAMES:
        return _NAMES[said](now)
    weekday = said.removeprefix("last ").removeprefix("on ")
    if weekday not in _WEEKDAYS:
        return None
    days = (now.weekday() - _WEEKDAYS.index(weekday)) % 7 or 7
    return _day(now) - timedelta(days=days)


_COUNTED = re.compile(r"(in )?(?:([0-9]{1,9})|an?)( ?)([a-z]+)( ago)?")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_MONTHS = {"mo": 1, "y": 12}
_UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), "m"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("d", "day", "days"), "d"),
    **dict.fromkeys(("w", "wk", "wks", "week", "weeks"), "w"),
    **dict.fromkeys(("mo", "mon", "month", "months"), "mo"),
    **dict.fromkeys(("y", "yr", "yrs", "year", "years"), "y"),
}


def _counted(said: str, now: datetime) -> datetime | None:
    """Read `3h`, `2 days ago`, `an hour ago`, `in 2 days`."""
    match = _COUNTED.fullmatch(said)
    if match is None or (match[1] and match[5]):
        return None
    unit = _UNITS.get(match[4])
    if unit is None or (not match[2] and not match[3]):  # `ah` is no hour
        return None
    count = int(match[2] or 1) * (1 if match[1] else -1)
    if unit in _MONTHS:
        return _months_on(now, count * _MONTHS[unit])
    return now + timedelta(seconds=count * _SECONDS[unit])


def _months_on(moment: datetime, months: int) -> datetime:
    """The same day `months` later, or the last day of a shorter month."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    day = min(moment.day, monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)
