"""Days are those of the clock of whoever asks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from palazzo.operations.caller_clock import MachineZone, zone
from palazzo.operations.context import Context


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine's clock is New York's, by a rule that has no name."""
    if not hasattr(time, "tzset"):
        pytest.skip("the zone of a process cannot be set here")
    monkeypatch.setenv("TZ", "EST5EDT,M3.2.0,M11.1.0")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("new_york")
def test_the_machines_zone_has_its_summer_time_and_its_repeated_hour() -> None:
    there = MachineZone()
    for moment in (datetime(2026, 7, 1, 12, tzinfo=UTC), datetime(2026, 12, 1, 12, tzinfo=UTC)):
        assert moment.astimezone(there).astimezone(UTC) == moment
    assert datetime(2026, 7, 1, 12, tzinfo=UTC).astimezone(there).utcoffset() == timedelta(hours=-4)
    assert datetime(2026, 12, 1, 12, tzinfo=there).utcoffset() == timedelta(hours=-5)
    for hour in (5, 6):  # 1:30 is shown twice on that day
        moment = datetime(2026, 11, 1, hour, 30, tzinfo=UTC)
        shown = moment.astimezone(there)
        assert (shown.hour, shown.minute, shown.fold) == (1, 30, hour - 5)
        assert shown.astimezone(UTC) == moment
    assert datetime(2026, 7, 1, 12, tzinfo=there).tzname() == "EDT"


@pytest.mark.parametrize("named", ["Europe/Rome", ":Europe/Rome"])
def test_a_zone_that_the_caller_names_wins(named: str) -> None:
    with Context(variables={"TZ": named}) as context:
        assert str(zone(context)) == "Europe/Rome"


def test_a_rule_is_left_to_the_system() -> None:
    for variables in ({"TZ": "CET-1CEST,M3.5.0,M10.5.0/3"}, {}, {"TZ": "../../etc/passwd"}):
        with Context(variables=variables) as context:
            assert isinstance(zone(context), MachineZone)
