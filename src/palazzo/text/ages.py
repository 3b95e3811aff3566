"""How long ago something happened, in the words of a person."""

from __future__ import annotations

from datetime import datetime

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_UNITS = (("year", 365), ("month", 30), ("week", 7))
_DAYS_COUNTED = 14
"""The days up to which days are counted: after two weeks, weeks are."""


def describe_age(at: int, now: int) -> str:
    """Return how long before `now` a time was: `3 days ago`, `yesterday`; its local date if it is later.

    Both are microseconds since 1970. Days are those of the machine's zone; 0 is an unknown time.
    """
    if not at:
        return "undated"
    seconds = (now - at) // 1_000_000
    moment, today = _local_time(at), _local_time(now)
    if seconds < 0:
        return f"{moment:%Y-%m-%d}"
    if seconds < _MINUTE:
        return "just now"
    if seconds < _HOUR:
        return _ago(seconds // _MINUTE, "minute")
    if seconds < _DAY:
        return _ago(seconds // _HOUR, "hour")
    days = max((today.date() - moment.date()).days, 1)
    if days < _DAYS_COUNTED:
        return "yesterday" if days == 1 else _ago(days, "day")
    name, length = next((name, length) for name, length in _UNITS if days >= 2 * length)
    return _ago(days // length, name)


def _local_time(micros: int) -> datetime:
    return datetime.fromtimestamp(micros / 1_000_000).astimezone()


def _ago(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'} ago"
