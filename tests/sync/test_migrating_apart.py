"""Two machines that took one store over, each for itself, hold everything once when they hear of each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.derived.state import complaints
from tests.sync.replicas import Replica, told_apart
from tests.sync.test_migrating import NOTES, Told, rows

from palazzo.importers import Note, StoreRecord
from palazzo.importers.store_import import Migration, MigrationOptions, migrate

HELD = "SELECT (SELECT count(*) FROM item), (SELECT count(*) FROM fact), (SELECT count(*) FROM entity)"


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Callable[[], Replica]]:
    made: list[Replica] = []

    def make() -> Replica:
        number = len(made)
        made.append(Replica(tmp_path / str(number), number, b"k" * 32, Random(number)))
        return made[-1]

    yield make
    for one in made:
        one.close()


def take(machine: Replica, things: Sequence[StoreRecord]) -> Migration:
    return migrate(machine.palace.database, Told(things), Path("elephant"), machine.clock, MigrationOptions())


def tell_each_other(one: Replica, other: Replica) -> None:
    for giver, taker in ((one, other), (other, one), (one, other)):
        taker.hear(giver.records())
    assert told_apart(one.canonical(), other.canonical()) == ""
    assert complaints(one.palace) == complaints(other.palace) == []


def test_what_both_took_over_is_there_once(machines: Callable[[], Replica]) -> None:
    one, other = machines(), machines()
    take(one, NOTES)
    held = rows(one.palace, HELD)
    take(other, NOTES)
    tell_each_other(one, other)
    assert rows(one.palace, HELD) == rows(other.palace, HELD) == held
    assert [len(machine.run("tunnel_list").tunnels) for machine in (one, other)] == [1, 1]
    again = take(one, NOTES)
    assert (again.change, {count.new for count in again.counts}) == (None, {0})


def test_a_note_that_its_store_has_changed_between_is_found_in_its_last_words(machines: Callable[[], Replica]) -> None:
    one, other = machines(), machines()
    note = Note("n", "Five attempts.", "shop", created_at=NOTES[0].created_at if isinstance(NOTES[0], Note) else None)
    take(one, [note])
    take(other, [note])
    take(other, [replace(note, text="Six attempts.")])
    tell_each_other(one, other)
    for machine in (one, other):
        assert [drawer.text for drawer in machine.run("list_drawers").drawers] == ["Six attempts."]
    assert take(one, [replace(note, text="Six attempts.")]).change is None
