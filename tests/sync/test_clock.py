"""The palace's clock: the machine's, but never behind what other devices have said."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from palazzo.features.facts.contract import KgAddRequest, KgQueryRequest, KgSupersedeRequest
from palazzo.features.facts.kg_add import kg_add
from palazzo.features.facts.kg_query import kg_query
from palazzo.features.facts.kg_supersede import kg_supersede
from palazzo.features.notes.contract import UndoRequest
from palazzo.features.notes.undo import undo
from palazzo.model import Micros, Place
from palazzo.operations.context import Context
from palazzo.operations.shared_views import FactView
from palazzo.palace import Palace
from palazzo.store.clock_drift import FURTHEST
from palazzo.sync import hybrid_clock

NOON = 1_700_000_000_000_000
HOUR = 3_600_000_000
DEVICE = "b" * 32
TIMES = st.integers(0, 10 * 24 * HOUR)


class Wall:
    def __init__(self) -> None:
        self.shows = NOON

    def __call__(self) -> Micros:
        return Micros(self.shows)


def saw(palace: Palace, wall: Wall, seen: int) -> hybrid_clock.Skew | None:
    with palace.database.transaction() as connection:
        return hybrid_clock.observe(connection, DEVICE, Micros(seen), wall())


def test_a_machine_that_shares_with_none_has_its_own_clock(tmp_path: Path) -> None:
    wall = Wall()
    with Palace.open(tmp_path / "palace.db", clock=wall) as palace:
        for shows in (NOON, NOON + 5, NOON - HOUR):
            wall.shows = shows
            assert palace.clock() == shows


def test_what_is_written_after_a_pull_is_later_than_what_was_pulled_and_stays_so(tmp_path: Path) -> None:
    wall = Wall()
    with Palace.open(tmp_path / "palace.db", clock=wall) as palace:
        assert saw(palace, wall, NOON + HOUR) is None
        first = palace.clock()
        wall.shows += 1_000_000
        assert NOON + HOUR < first < palace.clock() < NOON + HOUR + 1_000_000
        drawer = palace.drawer(palace.remember("the heron", Place("api", "birds")).drawers[0])
        assert drawer.recorded_at > first
    with Palace.open(tmp_path / "palace.db", clock=wall) as again:  # another process
        assert again.clock() >= drawer.recorded_at
        wall.shows += 2 * HOUR
        assert again.clock() == wall.shows  # the machine's clock has caught up


def test_an_operation_has_the_palaces_clock(tmp_path: Path) -> None:
    wall = Wall()
    with Context(tmp_path / "palace.db", tmp_path, {"HOME": str(tmp_path)}, clock=wall) as context:
        assert saw(context.writing(), wall, NOON + HOUR) is None
        assert context.now == context.writing().clock() == NOON + HOUR + 1
        assert context.machine_now == NOON


def test_a_device_a_year_ahead_moves_nobodys_clock_and_is_named(tmp_path: Path) -> None:
    wall = Wall()
    with Palace.open(tmp_path / "palace.db", clock=wall) as palace:
        skew = saw(palace, wall, NOON + 365 * 24 * HOUR)
        assert skew is not None
        assert palace.clock() == NOON
        assert "bbbbbbbb is 365 days ahead" in skew.sentence()
        assert "Anna's laptop is 365 days ahead" in skew.sentence("Anna's laptop")
        assert saw(palace, wall, NOON + 24 * HOUR) is None


@given(st.lists(st.tuples(TIMES, st.none() | TIMES), max_size=20))
def test_it_goes_back_never_and_is_a_day_ahead_at_most(steps: list[tuple[int, int | None]]) -> None:
    """As long as the machine's own clock does not go back."""
    last: tuple[Micros, Micros] | None = None
    before = shows = 0
    for step, seen in steps:
        shows += step
        now = hybrid_clock.compute_time(last, Micros(shows))
        assert before <= now <= shows + FURTHEST
        assert now >= shows
        if seen is not None and now <= shows + seen <= shows + FURTHEST:
            last = (Micros(shows + seen), Micros(shows))
            assert hybrid_clock.compute_time(last, Micros(shows)) > now or seen == FURTHEST
        before = now


def test_a_machine_whose_clock_was_set_back_is_led_a_day_ahead_at_most(tmp_path: Path) -> None:
    wall = Wall()
    with Palace.open(tmp_path / "palace.db", clock=wall) as palace:
        saw(palace, wall, NOON + HOUR)
        wall.shows = NOON - 365 * 24 * HOUR
        assert palace.clock() == wall.shows + FURTHEST


def test_facts_of_a_device_a_year_ahead_move_the_time_of_what_changes_them_alone(tmp_path: Path) -> None:
    wall = Wall()
    year = 365 * 24 * HOUR

    def recorded(run: Callable[[Context], FactView]) -> Micros:
        with Context(tmp_path / "palace.db", tmp_path, {"HOME": str(tmp_path)}, clock=wall) as context:
            return Micros(round(datetime.fromisoformat(run(context).recorded_at).timestamp() * 1000) * 1000)

    wall.shows += year
    ahead = recorded(lambda context: kg_add(context, KgAddRequest("heron", "eats", "fish")).fact)
    wall.shows -= year
    assert ahead == NOON + year
    assert recorded(lambda context: kg_add(context, KgAddRequest("heron", "eats", "frogs")).fact) == NOON
    wall.shows += 1_000_000
    later = recorded(
        lambda context: kg_supersede(context, KgSupersedeRequest("heron", "eats", "fish", "eels")).closed[0]
    )
    assert later > ahead
    assert recorded(lambda context: kg_add(context, KgAddRequest("heron", "eats", "newts")).fact) == wall.shows
    with Context(tmp_path / "palace.db", tmp_path, {"HOME": str(tmp_path)}, clock=wall) as context:
        changes = undo(context, UndoRequest(list=True)).changes
        (superseded,) = (one.id for one in changes if "supersede" in one.verb)
        undo(context, UndoRequest(superseded))
        held = {one.object for one in kg_query(context, KgQueryRequest("heron")).facts}
    assert held == {"fish", "frogs", "newts"}
