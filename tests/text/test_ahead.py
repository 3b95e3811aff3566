"""Times to come: what names no direction is the next of its name, on the clock of whoever says it."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from palazzo.model import Micros
from palazzo.text.future_times import parse_ahead
from palazzo.text.times import parse_stretch, to_iso

FRIDAY = Micros(int(datetime(2026, 11, 20, 15, 30, tzinfo=UTC).timestamp()) * 1_000_000)
NEW_YORK = ZoneInfo("America/New_York")


def when(text: str, zone: ZoneInfo | None = None, now: Micros = FRIDAY) -> str:
    return to_iso(parse_ahead(text, now, zone or UTC).start)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("tomorrow 9:00", "2026-11-21T09:00:00Z"),
        ("Tomorrow at 9am", "2026-11-21T09:00:00Z"),
        ("at 17:30", "2026-11-20T17:30:00Z"),
        ("9:00", "2026-11-21T09:00:00Z"),
        ("noon", "2026-11-21T12:00:00Z"),
        ("5pm", "2026-11-20T17:00:00Z"),
        ("12am", "2026-11-21T00:00:00Z"),
        ("in 2 hours", "2026-11-20T17:30:00Z"),
        ("2 hours", "2026-11-20T17:30:00Z"),
        ("in 3 days at 8:15", "2026-11-23T08:15:00Z"),
        ("friday", "2026-11-20T00:00:00Z"),
        ("friday 17:00", "2026-11-20T17:00:00Z"),
        ("fri 9:00", "2026-11-27T09:00:00Z"),
        ("next Friday", "2026-11-27T00:00:00Z"),
        ("on monday", "2026-11-23T00:00:00Z"),
        ("March 4", "2027-03-04T00:00:00Z"),
        ("4 march at 17:30", "2027-03-04T17:30:00Z"),
        ("december 24", "2026-12-24T00:00:00Z"),
        ("november", "2026-11-01T00:00:00Z"),
        ("2026-12-01", "2026-12-01T00:00:00Z"),
        ("2026-12-01 10:00", "2026-12-01T10:00:00Z"),
        ("2026-12-01T10:00+01:00", "2026-12-01T09:00:00Z"),
        ("2026-12-01 10:00 Europe/Rome", "2026-12-01T09:00:00Z"),
        ("yesterday", "2026-11-19T00:00:00Z"),
        ("2020-01-01", "2020-01-01T00:00:00Z"),
    ],
)
def test_what_is_named_is_the_next_of_its_name(text: str, meant: str) -> None:
    assert when(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("tomorrow 9:00", "2026-11-21T14:00:00Z"),
        ("noon", "2026-11-20T17:00:00Z"),
        ("friday", "2026-11-20T05:00:00Z"),
        ("2026-12-01 10:00", "2026-12-01T15:00:00Z"),
        ("2026-12-01T10:00Z", "2026-12-01T10:00:00Z"),
        ("in 2 hours", "2026-11-20T17:30:00Z"),
        ("march", "2027-03-01T05:00:00Z"),
    ],
)
def test_a_time_without_a_zone_is_of_the_clock_of_whoever_says_it(text: str, meant: str) -> None:
    assert when(text, NEW_YORK) == meant


@pytest.mark.parametrize("text", ["", "  ", "soon", "25:00", "13pm", "0am", "at", "friday 24:10", "\0", "9:75"])
def test_what_is_no_time_is_one_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a (valid )?time"):
        parse_ahead(text, FRIDAY)


def test_a_day_is_as_long_as_its_clock_says_and_an_hour_is_an_hour() -> None:
    before = Micros(int(datetime(2026, 10, 31, 16, 0, tzinfo=UTC).timestamp()) * 1_000_000)  # clocks go back that night
    day = parse_stretch("2026-11-01", before, NEW_YORK)
    assert (day.end - day.start) // 3_600_000_000 == 25
    assert when("in 1 day", NEW_YORK, before) == "2026-11-01T17:00:00Z"
    assert when("in 24 hours", NEW_YORK, before) == "2026-11-01T16:00:00Z"


def test_a_time_that_clocks_skipped_is_none() -> None:
    before = Micros(int(datetime(2027, 3, 13, 16, 0, tzinfo=UTC).timestamp()) * 1_000_000)
    with pytest.raises(ValueError, match="put forward"):
        parse_ahead("tomorrow 2:30", before, NEW_YORK)
