"""Everything derived can be lost, wholly or in part, and comes out of truth as it was."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.archive.conversations import (
    PLACE,
    answered,
    called,
    conversations,
    file_rows,
    file_version,
    fresh_palace,
    other_cuts,
    said,
    small_cuts,
)
from tests.derived.state import DERIVED, complaints, derived, drawers, drop_derived, live_ids
from tests.examples import examples as enough
from tests.index.hashed_words import HashedWords

from palazzo.archive.ingest import NewItem
from palazzo.index.query import Query
from palazzo.model import Place
from palazzo.palace import Palace

QUESTIONS = ("zebra crossing", "retry with backoff", "make all", "alpha", "giraffe", "sentence number 7")


@pytest.fixture
def lived_in(palace: Palace) -> Palace:
    """A palace in which things happened: growth, tools, edits, notes, moves, tags, something forgotten."""
    talk = [said(n, "user" if n % 4 == 0 else "assistant", f"sentence number {n} of the zebra talk") for n in range(20)]
    file_rows(palace, talk[:9], 2)
    file_rows(palace, [*talk, called(20, "Bash", "make all", "c"), answered(21, "ERROR: no rule\n" * 30, "c")], 5)
    file_version(palace, "# Retries\n\nretry with backoff\n\n# Old\n\nalpha\n")
    file_version(palace, "# Retries\n\nretry with backoff, thrice\n")
    palace.remember("the giraffe decides", PLACE, tags=["decision"], label="decision")
    palace.remember("to be forgotten", PLACE)
    palace.move([drawer.id for drawer in drawers(palace)[:2]], Place("web", "login"))
    palace.forget([drawer.id for drawer in drawers(palace) if "forgotten" in drawer.text or "number 12" in drawer.text])
    palace.embed_pending()
    assert complaints(palace) == []
    return palace


def answers(palace: Palace) -> dict[str, list[tuple[str, float, str]]]:
    return {
        question: [(hit.drawer.id, round(hit.score, 6), hit.drawer.text) for hit in palace.search(Query(question)).hits]
        for question in QUESTIONS
    }


def test_a_palace_that_lost_all_it_derived_answers_as_before(lived_in: Palace) -> None:
    before, found, retired = derived(lived_in), answers(lived_in), live_ids(lived_in)
    assert sum(map(len, found.values())) > 5
    drop_derived(lived_in)
    lived_in.rebuild("all")
    assert lived_in.embed_pending() > 0
    assert derived(lived_in) == before
    assert live_ids(lived_in) == retired
    assert complaints(lived_in) == []
    assert {q: [(i, t) for i, _, t in hits] for q, hits in answers(lived_in).items()} == {
        q: [(i, t) for i, _, t in hits] for q, hits in found.items()
    }


@pytest.mark.parametrize("table", [*DERIVED, "keyword"])
def test_a_palace_that_lost_one_derived_table_is_made_whole(lived_in: Palace, table: str) -> None:
    before, found = derived(lived_in), answers(lived_in)
    with lived_in.database.outside_transaction() as connection:
        lost = "INSERT INTO keyword(keyword) VALUES('delete-all')" if table == "keyword" else f"DELETE FROM {table}"
        connection.execute(lost)
    lived_in.rebuild("all")
    lived_in.embed_pending()
    assert derived(lived_in) == before
    assert answers(lived_in) == found
    assert complaints(lived_in) == []


@pytest.mark.parametrize("what", ["drawers", "fts", "vectors", "all"])
def test_rebuilding_what_is_sound_changes_nothing(
    lived_in: Palace, what: Literal["drawers", "fts", "vectors", "all"]
) -> None:
    before, found = derived(lived_in), answers(lived_in)
    lived_in.rebuild(what)
    lived_in.embed_pending()
    assert derived(lived_in) == before
    assert answers(lived_in) == found
    assert complaints(lived_in) == []


@enough(40)
@given(conversations())
def test_another_cutter_and_back_again_gives_the_first_ids(rows: list[NewItem]) -> None:
    with fresh_palace() as palace:
        with small_cuts():
            file_rows(palace, rows, 3)
            before = derived(palace)
        with other_cuts():
            palace.rebuild("drawers")
            assert complaints(palace) == []
        with small_cuts():
            palace.rebuild("drawers")
            assert derived(palace) == before


@enough(40)
@given(conversations(), st.integers(0, 14))
def test_a_conversation_grows_on_after_a_rebuild_as_if_nothing_had_been(rows: list[NewItem], at: int) -> None:
    with small_cuts(), fresh_palace() as palace, fresh_palace() as whole:
        file_rows(palace, rows[:at])
        drop_derived(palace)
        palace.rebuild("all")
        file_rows(palace, rows[at:])
        file_rows(whole, rows)
        assert live_ids(palace) == live_ids(whole)
        assert {d.id: d.locator for d in drawers(palace)} == {d.id: d.locator for d in drawers(whole)}


def test_words_are_found_all_the_while_the_keyword_index_is_made_anew(lived_in: Palace, palace_path: Path) -> None:
    """A rebuild that empties the index first answers "nothing found" meanwhile, and for good if it is killed."""
    reader = Palace.open(palace_path)
    missed: list[int] = []
    done = threading.Event()

    def search() -> None:
        while not done.is_set():
            missed.append(len(reader.search(Query("giraffe")).hits))

    thread = threading.Thread(target=search)
    thread.start()
    for _ in range(5):
        lived_in.rebuild("fts")
    done.set()
    thread.join()
    reader.close()
    assert len(missed) > 5
    assert set(missed) == {1}


def test_a_damaged_keyword_index_is_made_anew(lived_in: Palace) -> None:
    found = answers(lived_in)
    with lived_in.database.outside_transaction() as connection:
        connection.execute("UPDATE keyword_data SET block = x'00000000' WHERE id > 10")
    lived_in.rebuild("fts")
    assert answers(lived_in) == found
    assert complaints(lived_in) == []


def test_rebuilding_tells_how_far_it_is(lived_in: Palace) -> None:
    seen: list[tuple[int, int]] = []
    lived_in.rebuild("drawers", lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == len(seen) > 2


def test_vectors_are_made_anew_by_whichever_embedder_is_asked_next(lived_in: Palace, embedder: HashedWords) -> None:
    lived_in.rebuild("vectors")
    embedder.id = "another"
    lived_in.embed_pending()
    answer = lived_in.search(Query("giraffe"))
    assert (answer.index, answer.hits[0].drawer.text) == ("ready", "the giraffe decides")
