"""Calls that have a key: done once, answered the same, committed with their answer or not at all."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.index.hashed_words import HashedWords
from tests.operations.keyed_calls import CALLS, Fields, Ids, context, furnish, rows, run

from palazzo.errors import PalaceMissing, PalazzoError, UsageError
from palazzo.features.service import background_process
from palazzo.index.query import Query
from palazzo.model import Place
from palazzo.operations import registry, source_filter
from palazzo.operations.context import Context
from palazzo.operations.idempotency import call
from palazzo.operations.operation import Operation
from palazzo.palace import Palace
from palazzo.store import answered_calls, vector_rows
from palazzo.store.database import Database

Furnished = tuple[Path, Ids]


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Furnished:
    path = tmp_path_factory.mktemp("furnished") / "palace.db"
    return path, furnish(path)


@pytest.fixture
def path(furnished: Furnished, tmp_path: Path) -> Path:
    """A palace of its own, with something in it for every call."""
    return Path(shutil.copy(furnished[0], tmp_path / "palace.db"))


@pytest.fixture
def ids(furnished: Furnished) -> Ids:
    return furnished[1]


def keyed(path: Path, name: str, fields: Fields, key: str = "one", **more: Any) -> Any:
    """Make a call as a process of its own would."""
    found = registry.operation(name)
    with context(path, **more) as surroundings:
        return call(surroundings, found, found.request(**fields), key)


class Stop(Exception):
    pass


@dataclass(frozen=True)
class Asked:
    """What an operation of these tests is asked."""

    text: str = "A note."


@dataclass(frozen=True)
class Answered:
    """What it answers."""

    text: str


def doing(act: Callable[[Context, Asked], str]) -> Operation[Asked, Answered]:
    """An operation that writes by doing `act`."""

    class Doing(Operation[Asked, Answered]):
        def run(self, context: Context, request: Asked) -> Answered:
            return Answered(act(context, request))

    return Doing("doing", Asked, Answered, scope="write", writes=True)


def known(path: Path) -> list[tuple[str, str | None]]:
    """The calls that are known: operation and result."""
    with contextlib.closing(Database(path, "read")) as database, database.snapshot() as connection:
        return [(str(name), result) for name, result in connection.execute("SELECT operation, result FROM call")]


def notes(path: Path) -> int:
    return rows(path)["item"]


def test_every_operation_that_is_kept_by_its_key_is_called_here() -> None:
    writing = {found.name for found in registry.operations() if found.writes and not found.steps}
    assert writing == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_is_made_again_is_answered_the_same_and_done_once(
    name: str, path: Path, ids: Ids, tmp_path: Path
) -> None:
    plain = Path(shutil.copy(path, tmp_path / "plain.db"))
    before = rows(path)
    run(plain, name, CALLS[name](ids))
    first = keyed(path, name, CALLS[name](ids))
    once = rows(path)
    assert once == rows(plain)
    assert once != before or name == "token_revoke"  # which changes the one row that there is
    assert [one for one, _ in known(path)] == [name]
    assert keyed(path, name, CALLS[name](ids)) == first
    assert rows(path) == once


def test_two_that_make_the_same_call_at_once_are_answered_the_same(path: Path) -> None:
    together = threading.Barrier(2)

    def note(around: Context, asked: Asked) -> str:
        together.wait()  # neither was known when the other began
        return around.writing().remember(asked.text, Place("a", "b")).item

    def one() -> Answered:
        with context(path) as surroundings:
            return call(surroundings, doing(note), Asked(), "one")

    before = notes(path)
    with ThreadPoolExecutor(2) as pool:
        first, second = (pool.submit(one) for _ in range(2))
        assert first.result() == second.result()
    assert notes(path) == before + 1


def test_a_call_that_fails_writes_nothing_at_all(path: Path) -> None:
    def half(around: Context, asked: Asked) -> str:
        around.writing().remember(asked.text, Place("a", "b"))
        around.writing().remember(asked.text * 2, Place("c", "d"))
        raise UsageError("The rest is wrong.")

    before = rows(path)
    with context(path) as surroundings, pytest.raises(UsageError, match="The rest is wrong"):
        call(surroundings, doing(half), Asked(), "one")
    assert rows(path) == before
    assert known(path) == []


def test_what_goes_wrong_inside_a_call_is_taken_back_alone(path: Path) -> None:
    def second_time_lucky(around: Context, asked: Asked) -> str:
        palace = around.writing()
        kept = palace.remember(asked.text, Place("a", "b")).item
        with contextlib.suppress(KeyError), palace.database.transaction() as connection:
            connection.execute("DELETE FROM drawer")
            raise KeyError
        return kept

    before = notes(path)
    with context(path) as surroundings:
        call(surroundings, doing(second_time_lucky), Asked(), "one")
    assert notes(path) == before + 1


def test_a_call_reads_what_it_has_written_and_nobody_else_does(path: Path) -> None:
    def look(around: Context, asked: Asked) -> str:
        palace = around.writing()
        before = notes(path)
        drawer = palace.remember(asked.text, Place("a", "b")).drawers[0]
        assert notes(path) == before
        return palace.drawer(drawer).text

    with context(path) as surroundings:
        assert call(surroundings, doing(look), Asked("Mine alone."), "one").text == "Mine alone."


def test_a_key_that_was_used_for_another_call_is_refused(path: Path, ids: Ids) -> None:
    keyed(path, "remember", {"text": "One."})
    with pytest.raises(UsageError, match="used for another call"):
        keyed(path, "remember", {"text": "Two."})
    with pytest.raises(UsageError, match="used for another call"):
        keyed(path, "todo_add", {"text": "One."})


def test_a_key_may_be_anything(path: Path) -> None:
    before = notes(path)
    for key in ("", "\x00", "\ud800", "k" * 100_000):
        keyed(path, "remember", {"text": "One."}, key)
        keyed(path, "remember", {"text": "One."}, key)
    assert notes(path) == before + 4


def test_a_call_that_writes_nothing_is_not_kept_and_holds_no_lock(path: Path) -> None:
    keyed(path, "kg_add", {"subject": "Ada", "predicate": "works at", "object": "Initech"})

    def look(around: Context, asked: Asked) -> str:
        with around.writing().database.transaction() as connection:
            connection.execute("UPDATE item SET id = id WHERE id < 0")
        run(path, "remember", {"text": "Nobody waits."})
        return ""

    with context(path) as surroundings:
        call(surroundings, doing(look), Asked(), "two")
    assert known(path) == []


def test_a_call_that_only_looks_makes_no_palace(tmp_path: Path) -> None:
    with pytest.raises(PalaceMissing):
        keyed(tmp_path / "none" / "palace.db", "tag", {"action": "list"})
    assert not (tmp_path / "none").exists()


def test_the_first_call_of_all_makes_the_palace_and_is_kept(tmp_path: Path) -> None:
    new = tmp_path / "new" / "palace.db"
    new.parent.mkdir()
    assert keyed(new, "remember", {"text": "First."}) == keyed(new, "remember", {"text": "First."})
    assert notes(new) == 1


def test_calls_are_forgotten_after_a_week(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keyed(path, "remember", {"text": "One."}, "one")
    monkeypatch.setattr(answered_calls, "RETENTION_MICROS", -(10**15))
    keyed(path, "remember", {"text": "Two."}, "two")
    assert [result and "drawers" in result for _, result in known(path)] == [True]
    before = notes(path)
    keyed(path, "remember", {"text": "One."}, "one")
    assert notes(path) == before + 1


# --- erasing -----------------------------------------------------------------------------------------------


def test_an_erase_takes_what_was_answered_and_the_call_is_not_made_again(path: Path) -> None:
    said = {"name": "Zanzibar works", "entity": "Ada"}
    keyed(path, "kg_alias", said)
    run(path, "erase", {"match": "Zanzibar works"})
    before = rows(path)
    assert known(path) == [("kg_alias", None)]
    with pytest.raises(PalazzoError, match="words that were erased"):
        keyed(path, "kg_alias", said)
    assert rows(path) == before
    assert b"Zanzibar" not in path.read_bytes()


def test_what_is_erased_while_a_call_is_made_is_not_in_the_answer_that_is_kept(path: Path) -> None:
    run(path, "remember", {"text": "The word is Zanzibar."})

    def slow(around: Context, asked: Asked) -> str:
        palace = around.writing()
        found = palace.search(Query("Zanzibar")).hits[0].drawer.text
        erasing = threading.Thread(target=run, args=(path, "erase", {"match": "Zanzibar"}))
        erasing.start()
        erasing.join()
        palace.remember(asked.text, Place("a", "b"))
        return found

    with context(path) as surroundings:
        assert "Zanzibar" in call(surroundings, doing(slow), Asked(), "one").text
    assert known(path) == [("doing", None)]


# --- what is beside a call ---------------------------------------------------------------------------------


def test_vectors_are_made_of_what_is_committed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def start(command: list[str], handles: tuple[int, ...], around: Context) -> bool:
        with contextlib.closing(Database(path, "read")) as database, database.snapshot() as connection:
            seen.append(vector_rows.count_pending(connection))
        return True

    monkeypatch.setattr(background_process, "_start", start)
    found = registry.operation("remember")
    with contextlib.closing(Database(path, "read")) as database, database.snapshot() as connection:
        before = vector_rows.count_pending(connection)
    with Context(path, path.parent, {"HOME": str(path.parent)}) as around:
        call(around, found, found.request(text="Something new."), "one")
    assert seen == [before + 1]


def forget_and_stop(palace: Palace, drawer: str) -> None:
    with palace.database.hold_commits(lambda _: None, lambda _: None):
        palace.forget([drawer])
        palace.search(Query("apples"))
        raise Stop


def test_a_search_inside_a_call_that_fails_leaves_the_index_as_it_should_be(tmp_path: Path) -> None:
    """The index of a warm palace outlives the call: it must not have followed a log that was taken back."""
    with Palace.open(tmp_path / "palace.db", embedder=HashedWords) as palace:
        for n in range(3):
            drawer = palace.remember(f"apples and pears {n}", Place("a", "b")).drawers[0]
        palace.embed_pending()
        palace.search(Query("apples"))
        with pytest.raises(Stop):
            forget_and_stop(palace, drawer)
        palace.search(Query("apples"))
        assert palace._index is not None
        assert len(palace._index) == 3


def test_what_is_derived_in_a_call_is_committed_by_itself(path: Path, ids: Ids) -> None:
    run(path, "remember", {"text": "The database listens on port 5432.", "wing": "shop", "room": "notes"})

    def follow(around: Context, asked: Asked) -> str:
        palace = around.writing()
        palace.follow_claims()
        assert not palace.database.keeps_back
        return ""

    with context(path) as surroundings:
        call(surroundings, doing(follow), Asked(), "one")
    assert len(run(path, "kg_suggest", {}).suggestions) == 2


# --- long calls --------------------------------------------------------------------------------------------


@pytest.fixture
def many(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A palace of which forgetting a wing takes three steps."""
    monkeypatch.setattr(source_filter, "AT_ONCE", 2)
    monkeypatch.setattr("palazzo.features.notes.forget.AT_ONCE", 2)
    for n in range(5):
        run(path, "remember", {"text": f"Note {n} of many.", "wing": "many", "room": "notes"})
    return path


def live(path: Path, wing: str) -> int:
    return int(run(path, "status", {}).wings[wing].drawers)


def test_between_the_steps_of_a_long_call_others_write(many: Path) -> None:
    between: list[int] = []

    def meanwhile(progress: object) -> None:
        between.append(live(many, "many"))

    assert len(keyed(many, "forget", {"wing": "many"}, on_progress=meanwhile).forgotten) == 5
    assert between == [5, 3, 1]  # each step is there when the next begins
    assert live(many, "many") == 0


def test_a_long_call_that_is_interrupted_goes_on_when_it_is_made_again(many: Path) -> None:
    def stop(progress: Any) -> None:
        if progress.done == 4:
            raise Stop

    with pytest.raises(Stop):
        keyed(many, "forget", {"wing": "many"}, on_progress=stop)
    assert live(many, "many") == 3
    assert known(many) == [("forget", "")]
    rest = keyed(many, "forget", {"wing": "many"})
    assert live(many, "many") == 0
    assert keyed(many, "forget", {"wing": "many"}) == rest


def test_a_call_whose_last_step_was_committed_by_itself_is_answered_the_same(path: Path) -> None:
    def in_steps(around: Context, asked: Asked) -> str:
        palace = around.writing()
        ids = []
        for n in range(2):
            ids.append(palace.remember(f"{asked.text} {n}", Place("a", "b")).item)
            palace.database.step()
        return " ".join(ids)

    before = notes(path)
    for _ in range(2):
        with context(path) as surroundings:
            last = call(surroundings, doing(in_steps), Asked(), "one")
    assert notes(path) == before + 2
    assert known(path) == [("doing", f'{{"text":"{last.text}"}}')]


def test_an_undo_that_is_interrupted_and_made_again_takes_back_one_change(many: Path) -> None:
    run(many, "forget", {"ids": (run(many, "remember", {"text": "Before."}).id,)})
    run(many, "forget", {"wing": "many"})

    def stop(progress: Any) -> None:
        raise Stop

    with pytest.raises(Stop):
        keyed(many, "undo", {}, on_progress=stop)
    assert live(many, "many") == 1
    undone = keyed(many, "undo", {})
    assert (undone.undone.verb, undone.undone.size) == ("forget", 5)
    assert live(many, "many") == 5
    assert keyed(many, "undo", {}) == undone
    assert [one.undone for one in run(many, "undo", {"list": True}).changes if one.verb == "forget"] == [True, False]


# --- palaces of before -------------------------------------------------------------------------------------


def test_a_palace_of_an_earlier_palazzo_is_brought_up_to_date_by_a_call(path: Path) -> None:
    with contextlib.closing(Database(path)) as database, database.transaction() as connection:
        connection.execute("DROP TABLE call")
        connection.execute("DELETE FROM migration WHERE name = 'm003_calls'")
    assert run(path, "search", {"query": "gateway"}).hits
    assert keyed(path, "remember", {"text": "One."}) == keyed(path, "remember", {"text": "One."})


def test_what_works_in_steps_or_only_reads_has_no_use_for_a_key(path: Path) -> None:
    seen: list[bool] = []

    def look(around: Context, asked: Asked) -> str:
        around.writing().remember(asked.text, Place("a", "b"))
        seen.append(around.writing().database.keeps_back)
        return ""

    with context(path) as surroundings:
        for changed in ({"steps": True}, {"writes": False}, {}):
            call(surroundings, dataclasses.replace(doing(look), **changed), Asked(), "one")  # type: ignore[arg-type]
    assert seen == [False, False, True]
