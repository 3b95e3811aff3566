"""Times: what is written comes back, what is said is found, and what is no time is said so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.model import Micros
from palazzo.text.times import parse_as_of, parse_end, parse_start, parse_stretch, parse_timestamp, parse_when, to_iso

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(iso: str) -> Micros:
    return Micros((datetime.fromisoformat(iso) - EPOCH) // timedelta(microseconds=1))


NOW = micros("2026-03-04T10:22:31.250Z")  # a Wednesday


def test_iso_shows_milliseconds_only_when_there_are_some() -> None:
    assert to_iso(micros("2026-03-04T10:22:31Z")) == "2026-03-04T10:22:31Z"
    assert to_iso(micros("2026-03-04T10:22:31.000999Z")) == "2026-03-04T10:22:31Z"
    assert to_iso(micros("2026-03-04T10:22:31.25Z")) == "2026-03-04T10:22:31.250Z"


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_iso_is_read_back_to_the_millisecond(milliseconds: int) -> None:
    moment = Micros(milliseconds * 1000)
    assert parse_when(to_iso(moment), NOW) == moment


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2026-03-04", "2026-03-04T00:00:00Z"),
        ("2026-03-04 10:22", "2026-03-04T10:22:00Z"),
        ("2026-03-04t10:22:31.5+01:00", "2026-03-04T09:22:31.500Z"),
        ("2026-03-04 10:22:31 +0100", "2026-03-04T09:22:31Z"),
        ("2026-W10-3", "2026-03-04T00:00:00Z"),
        ("2026-03", "2026-03-01T00:00:00Z"),
        ("2026", "2026-01-01T00:00:00Z"),
        ("now", "2026-03-04T10:22:31.250Z"),
        ("Today", "2026-03-04T00:00:00Z"),
        ("  yesterday ", "2026-03-03T00:00:00Z"),
        ("tomorrow", "2026-03-05T00:00:00Z"),
        ("3h", "2026-03-04T07:22:31.250Z"),
        ("90 m", "2026-03-04T08:52:31.250Z"),
        ("2 days ago", "2026-03-02T10:22:31.250Z"),
        ("an  hour ago", "2026-03-04T09:22:31.250Z"),
        ("a week ago", "2026-02-25T10:22:31.250Z"),
        ("in 2 days", "2026-03-06T10:22:31.250Z"),
        ("1mo", "2026-02-04T10:22:31.250Z"),
        ("2 years ago", "2024-03-04T10:22:31.250Z"),
        ("this week", "2026-03-02T00:00:00Z"),
        ("last week", "2026-02-23T00:00:00Z"),
        ("last month", "2026-02-01T00:00:00Z"),
        ("last year", "2025-01-01T00:00:00Z"),
        ("monday", "2026-03-02T00:00:00Z"),
        ("last wednesday", "2026-02-25T00:00:00Z"),
    ],
)
def test_a_time_as_it_is_said(said: str, meant: str) -> None:
    assert to_iso(parse_when(said, NOW)) == meant


@pytest.mark.parametrize(
    ("said", "start", "end"),
    [
        ("2026-03-01", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"),
        ("2026-03-01 10:22", "2026-03-01T10:22:00Z", "2026-03-01T10:22:00Z"),
        ("2026-03-01 Europe/Rome", "2026-02-28T23:00:00Z", "2026-03-01T23:00:00Z"),
        ("2026-03-29 europe/rome", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),  # a day of 23 hours
        ("2026-07-01T10:22 [Europe/Rome]", "2026-07-01T08:22:00Z", "2026-07-01T08:22:00Z"),
        ("2026-W10", "2026-03-02T00:00:00Z", "2026-03-09T00:00:00Z"),
        ("2026-02", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"),
        ("2026", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("Q1 2026", "2026-01-01T00:00:00Z", "2026-04-01T00:00:00Z"),
        ("2025-Q4", "2025-10-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("yesterday", "2026-03-03T00:00:00Z", "2026-03-04T00:00:00Z"),
        ("last week", "2026-02-23T00:00:00Z", "2026-03-02T00:00:00Z"),
        ("next month", "2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z"),
        ("last quarter", "2025-10-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("next friday", "2026-03-06T00:00:00Z", "2026-03-07T00:00:00Z"),
        ("next wednesday", "2026-03-11T00:00:00Z", "2026-03-12T00:00:00Z"),
        ("March", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"),
        ("april", "2025-04-01T00:00:00Z", "2025-05-01T00:00:00Z"),
        ("last march", "2025-03-01T00:00:00Z", "2025-04-01T00:00:00Z"),
        ("next March", "2027-03-01T00:00:00Z", "2027-04-01T00:00:00Z"),
        ("Sept 2025", "2025-09-01T00:00:00Z", "2025-10-01T00:00:00Z"),
        ("March 3", "2026-03-03T00:00:00Z", "2026-03-04T00:00:00Z"),
        ("5th of March", "2025-03-05T00:00:00Z", "2025-03-06T00:00:00Z"),
        ("Mar 1, 2026", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"),
        ("9999-12-31", "9999-12-31T00:00:00Z", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_words_name_a_stretch_of_time(said: str, start: str, end: str) -> None:
    assert tuple(map(to_iso, parse_stretch(said, NOW))) == (start, end)


def test_what_begins_does_so_with_the_stretch_and_what_ends_ends_with_it() -> None:
    assert to_iso(parse_start("since March", NOW)) == "2026-03-01T00:00:00Z"
    assert to_iso(parse_start("after 2026-03-01", NOW)) == "2026-03-02T00:00:00Z"
    assert to_iso(parse_end("until last Friday", NOW)) == "2026-02-28T00:00:00Z"
    assert to_iso(parse_end("2026-03-01", NOW)) == "2026-03-02T00:00:00Z"
    assert to_iso(parse_end("before 2026-03-01", NOW)) == "2026-03-01T00:00:00Z"
    assert to_iso(parse_end("2026-03-01 10:22", NOW)) == "2026-03-01T10:22:00Z"


def test_as_of_a_day_is_its_end_and_as_of_today_is_now() -> None:
    assert parse_as_of("2026-03-01", NOW) == micros("2026-03-02T00:00:00Z") - 1
    assert parse_as_of("as of today", NOW) == NOW
    assert parse_as_of("March", NOW) == NOW
    assert to_iso(parse_as_of("2026-03-01T10:22Z", NOW)) == "2026-03-01T10:22:00Z"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("2026-03-01 10:22 Mars/Olympus", "'Mars/Olympus' is not a known time zone"),
        ("2026-03-01 Europe", "'Europe' is not a known time zone"),  # a directory of zones
        ("2026-03-29 02:30 Europe/Rome", "clocks in Europe/Rome skipped it when they were put forward"),
        ("2026-03-01T10:22+25:00", "is not a time"),
        ("February 30", "is not a time"),
        ("3 March 4", "is not a time"),
        ("2026-02-30 Europe/Rome", "is not a time"),
        ("in 99999 y", "is not a time"),
    ],
)
def test_zones_and_dates_that_do_not_exist_are_refused(said: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_stretch(said, NOW)


def test_a_month_back_from_a_long_one_ends_with_the_short_one() -> None:
    assert to_iso(parse_when("1 month ago", micros("2026-03-31T12:00:00Z"))) == "2026-02-28T12:00:00Z"


@pytest.mark.parametrize(
    "said",
    [
        "",
        "soon",
        "ah",
        "3",
        "3 parsecs",
        "in 2 days ago",
        "2026-13",
        "2026-02-30",
        "999999999 y",
        "99999999999 d",
        "٣h",
    ],
)
def test_what_is_no_time_is_refused_with_what_is_accepted(said: str) -> None:
    with pytest.raises(ValueError, match=r"is not a time: give a date \(2026-03-04\), .*last week\)\.$"):
        parse_when(said, NOW)


def test_a_refusal_stays_short() -> None:
    with pytest.raises(ValueError, match="is not a time") as refusal:
        parse_when("x" * 10_000, NOW)
    assert len(str(refusal.value)) < 300


@given(st.text() | st.from_regex(r"(in )?[0-9]{1,12} ?[a-z]{1,7}( ago)?"))
def test_any_words_are_a_time_or_a_value_error(said: str) -> None:
    try:
        assert isinstance(parse_when(said, NOW), int)
    except ValueError as refusal:
        assert "is not a time" in str(refusal)  # noqa: PT017 - both outcomes are right


@pytest.mark.parametrize(
    "value",
    [
        1_700_000_000,
        1_700_000_000.0,
        1_700_000_000_000,
        1_700_000_000_000_000,
        1_700_000_000_000_000_000,
        "1700000000",
        "1700000000.000000",
        " 1700000000000 ",
        "2023-11-14T22:13:20Z",
        "2023-11-14T22:13:20.000000000Z",
        "2023-11-14 22:13:20 UTC",
        "2023-11-14 23:13:20 +0100",
    ],
)
def test_timestamps_of_every_unit_are_one_time(value: object) -> None:
    assert parse_timestamp(value) == 1_700_000_000 * 10**6


def test_microseconds_of_a_decimal_are_kept() -> None:
    assert parse_timestamp("1700000000.123456") == 1_700_000_000_123_456


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        5,
        -1_700_000_000,
        10**30,
        float("nan"),
        float("inf"),
        "",
        "yesterday",
        "0001-01-01T00:00:00Z",
        "1970-01-01T00:00:00Z",
        "9999-12-31T23:59:59-23:59",
        "1" * 5000,
        [1_700_000_000],
        {},
    ],
)
def test_garbage_is_no_timestamp(value: object) -> None:
    assert parse_timestamp(value) is None


@given(st.text() | st.floats() | st.integers() | st.binary() | st.none())
def test_a_timestamp_can_always_be_written(value: object) -> None:
    moment = parse_timestamp(value)
    assert moment is None or to_iso(moment).endswith("Z")
