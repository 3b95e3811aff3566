"""Ages in words."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from palazzo.text.ages import describe_age

NOW = datetime(2026, 3, 20, 12, 0).astimezone()


def micros(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=14), "14 hours ago"),
        (timedelta(hours=30), "yesterday"),
        (timedelta(days=3), "3 days ago"),
        (timedelta(days=13), "13 days ago"),
        (timedelta(days=14), "2 weeks ago"),
        (timedelta(days=59), "8 weeks ago"),
        (timedelta(days=60), "2 months ago"),
        (timedelta(days=800), "2 years ago"),
        (timedelta(days=-2), "2026-03-22"),
    ],
)
def test_an_age_is_said_as_a_person_says_it(age: timedelta, words: str) -> None:
    assert describe_age(micros(NOW - age), micros(NOW)) == words


def test_an_unknown_time_is_undated() -> None:
    assert describe_age(0, micros(NOW)) == "undated"
