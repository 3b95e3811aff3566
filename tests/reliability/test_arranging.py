"""Wings and rooms are renamed, merged and moved by one process while another mines them and searches in them."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from tests.derived.state import complaints
from tests.index.hashed_words import HashedWords
from tests.reliability.programs import start
from tests.reliability.sizes import chances, scaled

from palazzo.derived.integrity_checks import verify
from palazzo.errors import UsageError
from palazzo.knowledge import place_names, reorganize
from palazzo.knowledge.fact_change import Change
from palazzo.knowledge.place_names import Wing
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.store import place_rows
from palazzo.store.database import Connection

pytestmark = pytest.mark.slow

ROUNDS = 300
NAMES = ("alder", "birch", "cedar", "dogwood", "elm")


class Standing(NamedTuple):
    """A drawer, the words that find it, and where it is."""

    id: str
    words: str
    place: Place


def standing(palace: Palace) -> list[Standing]:
    """Every document's drawer."""
    with palace.database.snapshot() as connection:
        rows = list(connection.execute("SELECT uid, title, room FROM drawer WHERE retired_at IS NULL ORDER BY id"))
        return [
            Standing(bytes(uid).hex(), title.lower(), place_rows.place_of(connection, room))
            for uid, title, room in rows
            if title.startswith("Heron")
        ]


def at_first(palace: Palace) -> dict[str, Place]:
    """Wait until some documents are there, of all rooms; return where each is."""
    until = time.monotonic() + 60
    while len(now := standing(palace)) < 4:
        assert time.monotonic() < until, "the other process mines nothing"
        time.sleep(0.05)
    return {one.id: one.place for one in now}


def arrange(palace: Palace, chance: Random) -> bool:
    """Do one thing at random; return whether it could be done."""
    with palace.database.transaction() as connection:
        wings = place_rows.wing_names(connection)
        change = Change(connection, "user", "arrange", palace.clock())
        wing = place_names.wing(connection, chance.choice(wings))
        rooms = place_rows.rooms(connection)
        room = place_names.room(connection, place_names.format_place(chance.choice(rooms).place))
        try:
            _do(change, connection, chance, wing, room)
        except UsageError:
            return False
        change.count(1)
        return True


def _do(change: Change, connection: Connection, chance: Random, wing: Wing, room: place_names.Room) -> None:
    match chance.randrange(5):
        case 0:
            reorganize.rename_wing(change, wing, chance.choice(NAMES))
        case 1:
            reorganize.rename_room(change, room, chance.choice(NAMES))
        case 2:
            reorganize.move_room(change, room, wing)
        case 3:
            other = chance.choice(place_rows.rooms(connection))
            reorganize.merge_rooms(change, room, place_names.room(connection, place_names.format_place(other.place)))
        case _:
            reorganize.merge_wings(change, wing, place_names.wing(connection, chance.choice(NAMES)))


def ask(other: subprocess.Popen[str], one: Standing) -> list[list[str]]:
    """Let the other process search for a drawer where it is; return (id, wing, room) of its hits."""
    assert other.stdin is not None
    assert other.stdout is not None
    said = {"words": one.words, "wing": one.place.wing, "room": one.place.room}
    other.stdin.write(json.dumps(said) + "\n")
    other.stdin.flush()
    found: list[list[str]] = json.loads(other.stdout.readline())
    return found


def test_what_one_process_arranges_the_other_finds_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    path, chance = tmp_path / "palace.db", chances("arranging")
    with Palace.open(path) as palace:
        for name in NAMES[:2]:
            palace.remember(f"{name} has a room of its own", Place(name, "auth"))
        other = start("miner_who_answers", path, tmp_path / "api")
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        first = at_first(palace)
        known: dict[str, str] = {}
        undone = done = 0
        while done < scaled(ROUNDS, 30):
            if chance.random() < 0.3 and done > undone:
                try:
                    palace.undo()
                    undone += 1
                except UsageError as refused:  # something else has the name by now
                    assert "by now" in str(refused)  # noqa: PT017
            else:
                done += arrange(palace, chance)
            now = standing(palace)
            assert known.items() <= {one.id: one.words for one in now}.items()
            known = {one.id: one.words for one in now}
            for one in chance.sample(now, min(2, len(now))):
                assert [one.id, *_parts(one.place)] in ask(other, one)
        _, errors = other.communicate(timeout=120)
        assert (other.returncode, errors) == (0, "")
        before = {one.id: one.place for one in standing(palace)}
        assert known.keys() <= before.keys()
        assert [check for check in verify(palace.database, HashedWords) if not check.ok] == []
        palace.rebuild("all")
        assert {one.id: one.place for one in standing(palace)} == before
        for _ in range(done - undone):
            palace.undo()
        with palace.database.snapshot() as connection:
            assert place_rows.wing_names(connection) == ["alder", "api", "birch"]
        after = {one.id: one.place for one in standing(palace)}
        assert after.keys() == before.keys()
        assert first.items() <= after.items()  # what was mined since stays in the room that it was mined into
        assert complaints(palace) == []


def _parts(place: Place) -> tuple[str, str]:
    return place.wing, place.room
