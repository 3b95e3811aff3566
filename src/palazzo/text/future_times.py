"""Future times, as people write them: `tomorrow 9:00`, `in 2 hours`, `friday`, `March 4 at 17:30`.

A name that `times.py` reads as the most recent such time is the next one here: a reminder for Friday means the coming
Friday.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

from palazzo.model import Micros
from palazzo.text.times import Stretch, parse_stretch

_LEADING = re.compile(r"(?:at|on|by|until|before|coming|due)\s+", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?:^|(?<![ ,])[ ,]+)(?:at )?(?:(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2}) ?(?P<half>am|pm)?"
    r"|(?P<whole>[0-9]{1,2}) ?(?P<which>am|pm)|noon)$"
)
_ISO_WITH_TIME = re.compile(r"[0-9]{4}-?[0-9w]{1,2}-?[0-9]{1,2}t")
_AGE = re.compile(r"(?:[0-9]+|an?) ?[a-z]+")
_YEAR = re.compile(r"\b[0-9]{4}\b")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORT = {day[:3]: day for day in _WEEKDAYS} | {"tues": "tuesday", "thur": "thursday", "thurs": "thursday"}


def parse_ahead(text: str, now: Micros, zone: tzinfo = UTC) -> Stretch:
    """Read a future time as the stretch of time that is named; an instant has the same start and end.

    In addition to what `parse_stretch` reads: a day with a time of day (`tomorrow 9:00`, `friday at 5pm`, `noon`), a
    time alone (the next one), a weekday or a date without a year (the next one), `2 hours` for `in 2 hours`. The result
    is in the past only if the text says so (`yesterday`). Raises ValueError, with a one-sentence message, if the text
    is not a time.
    """
    phrase = _LEADING.sub("", " ".join(text.split()), count=1)
    plain = phrase.casefold()
    clock = None if _ISO_WITH_TIME.match(plain) else _CLOCK.search(plain)
    if clock is not None:
        return _by_the_clock(plain[: clock.start()], clock, now, zone)
    return (_day_to_come(plain, now, zone) if plain else None) or parse_stretch(phrase, now, zone)


def _day_to_come(plain: str, now: Micros, zone: tzinfo) -> Stretch | None:
    """Return the next day, month or time with that name; None if the name alone is unambiguous."""
    day = _SHORT.get(plain, plain)
    if day in _WEEKDAYS:
        today = parse_stretch("today", now, zone)
        latest = parse_stretch(day, today.end, zone)  # seen from tomorrow: today, if it is one
        return latest if latest == today else parse_stretch(f"next {day}", now, zone)
    if _AGE.fullmatch(plain):
        return _read(f"in {plain}", now, zone) or _in_a_year(plain, now, zone)
    return None if _YEAR.search(plain) else _in_a_year(plain, now, zone)


def _in_a_year(plain: str, now: Micros, zone: tzinfo) -> Stretch | None:
    """Return a date without a year, in the first year in which it is still in the future."""
    year = _clock_at(now, zone).year
    dates = (_read(f"{plain} {candidate}", now, zone) for candidate in (year, year + 1))
    return next((date for date in dates if date is not None and date.end > now), None)


def _by_the_clock(day: str, clock: re.Match[str], now: Micros, zone: tzinfo) -> Stretch:
    """Return a time of day; without a day, or on a weekday whose time has passed, the next one."""
    if day:
        at, weekday = _at(parse_ahead(day, now, zone), clock, now, zone), _SHORT.get(day, day)
        passed = weekday in _WEEKDAYS and at.start <= now
        return _at(parse_stretch(f"next {weekday}", now, zone), clock, now, zone) if passed else at
    today = _at(parse_stretch("today", now, zone), clock, now, zone)
    return today if today.start > now else _at(parse_stretch("tomorrow", now, zone), clock, now, zone)


def _at(day: Stretch, clock: re.Match[str], now: Micros, zone: tzinfo) -> Stretch:
    hour, minute = int(clock["hour"] or clock["whole"] or 12), int(clock["minute"] or 0)
    half = clock["half"] or clock["which"]
    if half:
        if not 1 <= hour <= 12:
            raise ValueError(f"'{clock[0].strip()}' is not a valid time of day.")
        hour = hour % 12 + (12 if half == "pm" else 0)
    if hour > 23 or minute > 59:
        raise ValueError(f"'{clock[0].strip()}' is not a valid time of day.")
    return parse_stretch(f"{_clock_at(day.start, zone):%Y-%m-%d}T{hour:02}:{minute:02}", now, zone)


def _clock_at(moment: Micros, zone: tzinfo) -> datetime:
    return datetime.fromtimestamp(moment // 1_000_000, zone)


def _read(text: str, now: Micros, zone: tzinfo) -> Stretch | None:
    try:
        return parse_stretch(text, now, zone)
    except ValueError:
        return None
