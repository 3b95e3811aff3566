"""Times as people and files write them, converted to and from microseconds since 1970-01-01 UTC.

This module owns the grammar of times. It never asks for the current time (the caller says what `now` is) and never for
the machine's time zone: a time without a zone is UTC, unless the caller names a zone.

Words name a *stretch*: `2026-03-01` a day, `March` a month, `10:22` of a day an instant. The meaning depends on the
use: a beginning is the stretch's first moment, and an end is its last.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from palazzo.model import Micros
from palazzo.text.lazy_patterns import make_regex

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_iso(micros: Micros) -> str:
    """Write a time as ISO-8601 in UTC: `2026-03-04T10:22:31Z`, or `…31.250Z` if milliseconds are not zero.

    Digits beyond milliseconds are cut off. Raises OverflowError outside the years 1 to 9999.
    """
    moment = _moment(micros)
    milliseconds = moment.microsecond // 1000
    fraction = f".{milliseconds:03d}" if milliseconds else ""
    return f"{moment.replace(microsecond=0, tzinfo=None).isoformat()}{fraction}Z"


class Stretch(NamedTuple):
    """The range that a time expression names, half-open; for an instant both ends are equal."""

    start: Micros
    end: Micros


def parse_stretch(text: str, now: Micros, zone: tzinfo = UTC) -> Stretch:
    """Read the stretch of time that `text` names; relative times count from `now`.

    Days are those of `zone`, and a time that names no zone is in it.

    Accepted, in any case:

    * ISO-8601: `2026-03-04`, `2026-03-04 10:22`, `2026-03-04T10:22:31.5+01:00`, `2026-W10-3`, `2026-W10`; also
      `2026-03` and `2026`. A zone may be named: `2026-03-04 10:22 Europe/Rome`;
    * a date in English: `March 4`, `4 March 2026`, `Mar 4, 2026`, `March 2026`, `March`, `Q1 2026`;
    * an age: `3h`, `2 days ago`, `an hour ago`, `1w` (units s, m, h, d, w, mo, y and their English names;
      `m` is minutes), or the same ahead: `in 2 days`. Months and years are calendar ones;
    * `now`, and the names of days and spans: `today`, `yesterday`, `tomorrow`, `monday` or `last monday` (the
      latest one before today), `this week`, `last month`, `next year`, `next friday`. If no year is
      named, the latest one that has begun is meant.

    Raises ValueError, with one sentence that names the accepted forms, for anything else.
    """
    plain = " ".join(text.split())
    zone_match = _IN_A_ZONE.fullmatch(plain)
    try:
        if zone_match:
            return _bounds(_iso(zone_match[1].casefold(), _zone(zone_match[2])))
        for reading in (_iso, _partial_date):
            span = reading(plain.casefold(), zone)
            if span is not None:
                return _bounds(span)
        local_time = _moment(now).astimezone(zone)
        for relative in (_parse_name, _in_english, _parse_age):
            span = relative(plain.casefold(), local_time)
            if span is not None:
                return _bounds(span)
    except _NoSuchTime:
        raise
    except (OverflowError, ValueError):  # a year such as 99999, or month 13
        pass
    raise NotATime(
        f"'{_shorten_text(text)}' is not a time: give a date (2026-03-04), a date and time (2026-03-04T10:22Z), "
        "an age (3h, 2 days ago) or a name (now, today, yesterday, monday, last week)."
    )


def parse_when(text: str, now: Micros) -> Micros:
    """Read a time as `parse_stretch` does, and return its first moment."""
    return parse_stretch(text, now).start


def parse_start(text: str, now: Micros) -> Micros:
    """Read when something began: `2026-03-01`, `since March`, `after last Friday`. Raises ValueError.

    The result is the first moment of the named stretch; in the last example, the moment at which it has ended.
    """
    word, rest = _leading(text, _START_WORDS)
    stretch = parse_stretch(rest, now)
    return stretch.end if word == "after" else stretch.start


def parse_end(text: str, now: Micros) -> Micros:
    """Read when something ended, as the first moment at which it no longer was. Raises ValueError.

    The named stretch is included: `2026-03-01` and `until March 1` are the midnight after that day; `before March 1` is
    the midnight before it.
    """
    word, rest = _leading(text, _END_WORDS)
    stretch = parse_stretch(rest, now)
    return stretch.start if word == "before" else stretch.end


def parse_as_of(text: str, now: Micros) -> Micros:
    """Read the moment at which a person wants to see the state. Raises ValueError.

    For a past day it is the last moment, so that what happened on that day counts; for the current day (week, …) it is
    now.
    """
    _, rest = _leading(text, ("as of ", "on ", "at ", "in "))
    start, end = parse_stretch(rest, now)
    if start <= now < end:
        return now
    return Micros(max(start, end - 1))


_START_WORDS = ("since ", "from ", "starting ", "as of ", "after ", "on ")
_END_WORDS = ("until ", "till ", "through ", "up to ", "to ", "by ", "before ", "on ")


def _leading(text: str, words: tuple[str, ...]) -> tuple[str, str]:
    """Split off the word that tells which end of a stretch is meant."""
    phrase = text.strip()
    for word in words:
        if phrase.casefold().startswith(word):
            return word.strip(), phrase[len(word) :]
    return "", phrase


def parse_timestamp(value: object) -> Micros | None:
    """Read a timestamp from another program's file, or return None if it is not one.

    Accepts ISO-8601 text and epoch numbers (also as text, as Slack writes them) in seconds, milliseconds, microseconds
    or nanoseconds, distinguished by size. Times before March 1973 (10**8 seconds) are None: they are the zero values of
    Go, .NET and C, or numbers that count something else.
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
_DECIMAL = make_regex(r"[0-9]{9,20}(\.[0-9]{1,9})?", re.ASCII)
_LONGEST_TIMESTAMP = 64


def _from_text(text: str) -> Micros | None:
    if len(text) > _LONGEST_TIMESTAMP:
        return None
    decimal = _DECIMAL.fullmatch(text)
    if decimal:
        return _from_number(float(text) if decimal[1] else int(text))
    try:
        moment = _iso_moment(text)
        micros = _micros(moment) if moment is not None else None
    except (OverflowError, ValueError):
        return None
    return _plausible(micros)


def _from_number(number: int | float) -> Micros | None:
    """Read an epoch number. Each unit's range is 1,000 times the previous one's: 10**11 seconds is the year 5138."""
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


_SPACE_BEFORE_ZONE = make_regex(r"(?<=[0-9]) (?=[+-][0-9]{2}:?[0-9]{2}$|z$|utc$)", re.IGNORECASE)
_ISO_START = make_regex(r"[0-9]{4}-?[0-9wW]")
_ISO_DAY = make_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}|[0-9]{4}-?w[0-9]{2}-?[0-9]")
_ISO_WEEK = make_regex(r"[0-9]{4}-?w[0-9]{2}")

Span = tuple[datetime, datetime]


def _shorten_text(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


def _bounds(span: Span | None) -> Stretch:
    if span is None:
        raise ValueError("no time")
    return Stretch(_micros(span[0]), _micros(span[1]))


def _iso_moment(text: str, zone: tzinfo = UTC) -> datetime | None:
    """Read ISO-8601, and the forms of git (a space before the zone) and of logs (`UTC` for `Z`); else in `zone`."""
    if not _ISO_START.match(text):
        return None
    tidy = _SPACE_BEFORE_ZONE.sub("", text)
    if tidy[-3:].casefold() == "utc":
        tidy = f"{tidy[:-3]}Z"
    try:
        moment = datetime.fromisoformat(tidy.upper())
    except ValueError:
        return None
    return moment if moment.tzinfo else _resolve_local_time(moment, zone)


def _iso(phrase: str, zone: tzinfo = UTC) -> Span | None:
    moment = _iso_moment(phrase, zone)
    if moment is None:
        return None
    if _ISO_DAY.fullmatch(phrase):
        return moment, _later(moment, days=1)
    return (moment, _later(moment, days=7)) if _ISO_WEEK.fullmatch(phrase) else (moment, moment)


def _later(moment: datetime, days: int = 0, months: int = 0) -> datetime:
    """Return the end of a stretch that began at `moment`; the end of time if it is out of range."""
    try:
        return _months_on(moment, months) + timedelta(days=days)
    except (OverflowError, ValueError):
        return datetime.max.replace(tzinfo=UTC)


# --- zones -------------------------------------------------------------------------------------------------

_IN_A_ZONE = make_regex(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}(?:[tT ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)?)"
    r" ?\[?([A-Za-z][A-Za-z0-9_+/-]{1,40})\]?"
)


class NotATime(ValueError):
    """A text that names no time in any known form."""


class _NoSuchTime(ValueError):
    """An unknown time zone, or a time that its clocks never showed."""


def _zone(name: str) -> tzinfo:
    """Return the zone with that name, in any case."""
    if name.casefold() in ("utc", "gmt"):
        return UTC
    for candidate in (
        name,
        *(zone_name for zone_name in available_timezones() if zone_name.casefold() == name.casefold()),
    ):
        try:
            return ZoneInfo(candidate)
        except (KeyError, OSError, ValueError):  # also a directory of the zones' database, such as `Europe`
            continue
    raise _NoSuchTime(
        f"'{name}' is not a known time zone: write the offset from UTC (2026-03-04T10:22+01:00), or a name such as "
        "Europe/Rome."
    )


def _resolve_local_time(local: datetime, zone: tzinfo) -> datetime:
    """Return the moment at which a clock in `zone` shows that local time."""
    moment = local.replace(tzinfo=zone)
    if zone is not UTC and moment.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != local:
        raise _NoSuchTime(f"'{local}' is not a time: clocks in {zone} skipped it when they were put forward.")
    return moment


# --- names -------------------------------------------------------------------------------------------------

_PARTIAL = make_regex(r"([0-9]{4})(?:-([0-9]{1,2}))?")
_QUARTER = make_regex(r"(?:q([1-4])[ ,]{1,2}([0-9]{4})|([0-9]{4})[ -]?q([1-4]))")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTHS_BY_NAME = {name: n for n, name in enumerate(_MONTH_NAMES, 1)} | {
    name[:3]: n for n, name in enumerate(_MONTH_NAMES, 1)
} | {"sept": 9}  # fmt: skip
_DAYS = {"today": 0, "yesterday": -1, "tomorrow": 1}
_OFFSETS = {"this": 0, "last": -1, "next": 1}


def _partial_date(phrase: str, zone: tzinfo = UTC) -> Span | None:
    quarter = _QUARTER.fullmatch(phrase)
    if quarter:
        start = datetime(int(quarter[2] or quarter[3]), 3 * int(quarter[1] or quarter[4]) - 2, 1, tzinfo=zone)
        return start, _later(start, months=3)
    match = _PARTIAL.fullmatch(phrase)
    if match is None:
        return None
    start = datetime(int(match[1]), int(match[2] or 1), 1, tzinfo=zone)
    return start, _later(start, months=1 if match[2] else 12)


def _parse_name(phrase: str, now: datetime) -> Span | None:
    """Read `now`, `yesterday`, `last week`, `monday`."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if phrase == "now":
        return now, now
    if phrase in _DAYS:
        day = today + timedelta(days=_DAYS[phrase])
        return day, _later(day, days=1)
    qualifier, _, unit = phrase.rpartition(" ")
    if unit in _WEEKDAYS and qualifier in ("", "last", "on", "next"):
        day_offset = (_WEEKDAYS.index(unit) - now.weekday()) % 7
        day = today + timedelta(days=(day_offset or 7) if qualifier == "next" else day_offset - 7)
        return day, _later(day, days=1)
    if qualifier not in _OFFSETS:
        return None
    return _calendar(unit, today, _OFFSETS[qualifier])


def _calendar(unit: str, today: datetime, offset: int) -> Span | None:
    if unit == "week":
        start = today + timedelta(days=7 * offset - today.weekday())
        return start, _later(start, days=7)
    month = today.replace(day=1)
    months = {"month": 1, "quarter": 3, "year": 12}.get(unit)
    if months is not None:
        start = _months_on(month.replace(month=month.month - (month.month - 1) % months), offset * months)
        return start, _later(start, months=months)
    if unit in _MONTHS_BY_NAME and offset:
        away = (_MONTHS_BY_NAME[unit] - month.month) % 12
        start = _months_on(month, (away or 12) if offset > 0 else away - 12)
        return start, _later(start, months=1)
    return None


_DATE = make_regex(
    r"(?:(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?: of)? )?(?P<month>[a-z]{3,9})\.?"
    r"(?: (?P<after>[0-9]{1,2})(?:st|nd|rd|th)?)?(?:,? (?P<year>[0-9]{4}))?"
)


def _in_english(phrase: str, now: datetime) -> Span | None:
    """Read `March 4`, `4th of March 2026`, `March 2026`, `March`."""
    match = _DATE.fullmatch(phrase)
    if match is None or match["month"] not in _MONTHS_BY_NAME or (match["day"] and match["after"]):
        return None
    month, day = _MONTHS_BY_NAME[match["month"]], int(match["day"] or match["after"] or 0)
    start = datetime(int(match["year"] or now.year), month, day or 1, tzinfo=now.tzinfo)
    if not match["year"] and start > now:
        start = start.replace(year=start.year - 1)
    return start, _later(start, days=1 if day else 0, months=0 if day else 1)


_AGE_PATTERN = make_regex(r"(in )?(?:([0-9]{1,9})|an?)( ?)([a-z]+)( ago)?")
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


def _parse_age(phrase: str, now: datetime) -> Span | None:
    """Read `3h`, `2 days ago`, `an hour ago`, `in 2 days`."""
    match = _AGE_PATTERN.fullmatch(phrase)
    if match is None or (match[1] and match[5]):
        return None
    unit = _UNITS.get(match[4])
    if unit is None or (not match[2] and not match[3]):  # `ah` is no hour
        return None
    count = int(match[2] or 1) * (1 if match[1] else -1)
    if unit in _MONTHS:
        moment = _months_on(now, count * _MONTHS[unit])
    else:  # a day is as long as its clock says, an hour always one
        base_time = now if unit in ("d", "w") else now.astimezone(UTC)
        moment = base_time + timedelta(seconds=count * _SECONDS[unit])
    return moment, moment


def _months_on(moment: datetime, months: int) -> datetime:
    """Return the same day `months` later, or the last day of a shorter month."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    day = min(moment.day, monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)
