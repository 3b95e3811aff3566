"""Undo takes back a change group by records of its own, and finishes what was interrupted."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.archive.conversations import PLACE, conversations, file_rows, fresh_palace, small_cuts
from tests.derived.state import complaints, derived, drawers, drop_derived, live_ids
from tests.examples import examples as enough

from palazzo.archive.ingest import NewItem
from palazzo.errors import AmbiguousId, NotFound, UsageError
from palazzo.index.query import Query
from palazzo.model import Micros, Place
from palazzo.palace import Palace
from palazzo.store import change_groups

examples = enough(40)


def found(palace: Palace, text: str) -> list[str]:
    return [hit.drawer.text for hit in palace.search(Query(text)).hits]


def test_what_was_forgotten_is_found_again() -> None:
    with fresh_palace() as palace:
        note = palace.remember("the heron stands on the pier", PLACE)
        palace.forget(note.drawers)
        assert not found(palace, "heron")
        assert palace.undo().verb == "forget"
        assert found(palace, "heron") == ["the heron stands on the pier"]
        assert palace.drawer(note.drawers[0]).retired_at is None


def test_a_note_that_is_taken_back_is_forgotten_and_stays_archived() -> None:
    with fresh_palace() as palace:
        note = palace.remember("the heron stands on the pier", PLACE, tags=["birds", "pier"])
        palace.undo()
        assert not found(palace, "heron")
        assert palace.drawer(note.drawers[0]).text == "the heron stands on the pier"


def test_changes_are_taken_back_one_after_the_other_and_an_undo_is_none_of_them() -> None:
    with fresh_palace() as palace:
        note = palace.remember("the heron stands on the pier", PLACE)
        palace.move(note.drawers, Place("web", "birds"))
        palace.tag(note.drawers, "grey")
        assert [palace.undo().verb, palace.undo().verb] == ["tag", "move"]
        drawer = palace.drawer(note.drawers[0])
        assert (drawer.place, drawer.tags) == (PLACE, ())
        assert palace.undo().verb == "remember"
        with pytest.raises(NotFound, match="nothing to undo"):
            palace.undo()


def test_after_the_clock_was_set_back_the_last_change_is_taken_back_first() -> None:
    times = iter([5_000, 5_000_000_000, 6_000, 6_000, 7_000, 4_000])
    with fresh_palace() as palace:
        latest = itertools.count(1_000_000_000_000_000)
        palace.machine_clock = lambda: Micros(next(latest) + next(times, 8_000) * 1_000_000)
        notes = [palace.remember(f"the heron stands on pier {n}", PLACE) for n in range(6)]
        for n in reversed(range(6)):
            assert palace.undo().verb == "remember"
            assert [palace.drawer(note.drawers[0]).retired_at is None for note in notes] == [True] * n + [False] * (
                6 - n
            )


def test_each_actor_takes_back_its_own() -> None:
    with fresh_palace() as palace:
        note = palace.remember("the heron stands on the pier", PLACE)
        palace.tag(note.drawers, "grey", actor="claude-code")
        assert palace.undo("user").verb == "remember"
        assert palace.undo("claude-code").verb == "tag"


def test_an_undo_and_what_was_undone_are_refused_and_nothing_changes() -> None:
    with fresh_palace() as palace:
        note = palace.remember("the heron stands on the pier", PLACE)
        palace.forget(note.drawers)
        forgot = palace.undo()
        with palace.database.snapshot() as connection:
            undoing = change_groups.recent(connection, 1)[0]
        for prefix, message in (
            (undoing.uid, "is itself an undo"),
            (forgot.uid, "was already undone"),
            ("0" * 8, "No change"),
        ):
            with pytest.raises(UsageError, match=message):
                palace.undo(prefix=prefix)
        with pytest.raises(AmbiguousId):
            palace.undo(prefix=forgot.uid[:6])
        assert found(palace, "heron")


def test_a_group_of_many_transactions_is_taken_back_whole_also_after_an_interruption() -> None:
    class Stop(Exception):
        pass

    def stop(done: int, _size: int) -> None:
        if done == 3:
            raise Stop

    with fresh_palace() as palace:
        notes = [palace.remember(f"heron number {n} stands on the pier", PLACE).drawers[0] for n in range(6)]
        group = palace.begin_group("user", "forget")
        for note in notes:
            palace.forget([note], group=group)
        with pytest.raises(Stop):
            palace.undo(progress=stop)
        assert len(live_ids(palace)) == 3
        other = palace.remember("a lamp", PLACE)
        assert palace.undo().verb == "remember"  # the next undo finishes the first, and then does its own
        assert live_ids(palace) == set(notes)
        assert palace.drawer(other.drawers[0]).retired_at is not None


@examples
@given(conversations(), st.data())
def test_taking_everything_back_leaves_what_was_there_and_what_a_rebuild_makes(
    rows: list[NewItem], data: st.DataObject
) -> None:
    with small_cuts(), fresh_palace() as palace:
        file_rows(palace, rows)
        before = derived(palace)
        done = 0
        for _ in range(data.draw(st.integers(1, 4))):
            there = [drawer.id for drawer in drawers(palace)]
            if not there:
                break
            chosen = data.draw(st.lists(st.sampled_from(there), min_size=1, max_size=3, unique=True))
            match data.draw(st.sampled_from(["forget", "move", "tag"])):
                case "forget":
                    palace.forget(chosen)
                case "move":
                    palace.move(chosen, Place("web", "login"))
                case "tag":
                    palace.tag(chosen, "t")
            done += 1
        for _ in itertools.repeat(None, done):
            palace.undo()
        assert derived(palace) == before
        assert complaints(palace) == []
        drop_derived(palace)
        palace.rebuild("all")
        assert derived(palace) == before
