"""A session is found by its title and directory, a document by its path: the first drawer stands for each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.archive.conversations import SESSION, Ticking, file_rows, file_version, said
from tests.archive.test_erasing import erase
from tests.derived.state import complaints
from tests.index.hashed_words import HashedWords

from palazzo.index.minilm import MiniLM
from palazzo.index.query import Query
from palazzo.model import Source
from palazzo.palace import Palace
from palazzo.store import source_headings, source_rows, vector_rows
from palazzo.store.database import Database
from palazzo.sync import record_lines, record_reader
from palazzo.sync.merge import merge

TITLED = replace(SESSION, title="Gizmotron task 017")
ROWS = [
    said(1, "user", "Why does the queue grow?", meta={"cwd": "/home/ann/src/frobnicator"}),
    said(2, "assistant", "The limit is seven."),
    said(3, "user", "Then raise it."),
    said(4, "assistant", "It is nine now."),
]


def texts(palace: Palace, words: str) -> list[str]:
    return [hit.text for hit in palace.search(Query(words, disabled_stages=frozenset(["vectors"]))).hits]


def test_a_session_is_found_by_its_title_and_directory(palace: Palace) -> None:
    file_rows(palace, ROWS, source=TITLED)
    assert texts(palace, "Gizmotron")[0].startswith("Why does the queue grow?")
    assert texts(palace, "frobnicator")[0].startswith("Why does the queue grow?")
    assert complaints(palace) == []


def test_many_sessions_of_one_title_are_all_found(palace: Palace) -> None:
    for n in range(12):
        source = Source(("session", f"s{n}"), "test", f"file:///{n}.jsonl", f"s{n}", f"Gizmotron task {n:03d}")
        question = f"What is the weight of part {n}, and of the {'abcdefghijkl'[n] * 5} beside it?"
        file_rows(palace, [said(n * 10 + 1, "user", question), said(n * 10 + 2, "assistant", f"{n} g.")], source=source)
    file_version(palace, "# Weights\n\nA list.\n")
    hits = palace.search(Query("Gizmotron", limit=20, disabled_stages=frozenset(["vectors"]))).hits
    assert {hit.drawer.source.title for hit in hits} == {f"Gizmotron task {n:03d}" for n in range(12)}


def test_a_new_title_replaces_the_old_one(palace: Palace) -> None:
    file_rows(palace, ROWS[:2], source=TITLED)
    file_rows(palace, ROWS[2:], source=replace(TITLED, title="Quokka census"))
    assert texts(palace, "quokka")[0].startswith("Why does the queue grow?")
    assert texts(palace, "Gizmotron") == []


def test_the_next_drawer_stands_for_a_session_whose_first_one_is_forgotten(palace: Palace) -> None:
    file_rows(palace, ROWS, source=TITLED)
    first = palace.search(Query("Gizmotron", disabled_stages=frozenset(["vectors"]))).hits[0]
    palace.forget([first.drawer.id])
    assert texts(palace, "Gizmotron")[0].startswith("Then raise it.")
    assert complaints(palace) == []


def test_a_document_is_found_by_its_path(palace: Palace) -> None:
    guide = Source(("project", "docs/quokka-census.md"), "document", "file:///quokka-census.md", "", "Marsupials")
    file_version(palace, "# Marsupials\n\nThey hop.\n\n## Food\n\nGrass.\n", source=guide)
    assert texts(palace, "quokka census")[0].startswith("# Marsupials")
    file_version(palace, "# Animals\n\nThey run.\n\n## Food\n\nGrass.\n", source=guide)
    assert texts(palace, "quokka census")[0].startswith("# Animals")


def test_an_older_palace_is_processed_in_the_background(tmp_path: Path) -> None:
    with Palace.open(tmp_path / "palace.db", embedder=HashedWords, clock=Ticking()) as palace:
        file_rows(palace, ROWS, source=TITLED)
        with palace.database.transaction() as connection:
            (row,) = next(connection.execute("SELECT drawer FROM source_heading"))
            connection.execute("DROP TABLE source_heading")
            connection.execute("DELETE FROM migration WHERE name IN ('m018_source_headings', 'm020_heading_vectors')")
            connection.execute("UPDATE keyword SET context = '', body = 'queue', scope = '' WHERE rowid = ?", (row,))
    with Palace.open(tmp_path / "palace.db", embedder=HashedWords, clock=Ticking()) as palace:
        assert texts(palace, "Gizmotron") == []
        palace.follow_consumer("heading")
        assert texts(palace, "Gizmotron")[0].startswith("Why does the queue grow?")


@pytest.mark.parametrize("target", ["fts", "all"])
def test_a_rebuild_restores_lost_headings(palace: Palace, target: str) -> None:
    file_rows(palace, ROWS, source=TITLED)
    with palace.database.transaction() as connection:
        connection.execute("DELETE FROM source_heading")
        connection.execute("INSERT INTO keyword(keyword) VALUES('delete-all')")
    palace.rebuild(target)  # type: ignore[arg-type]
    assert texts(palace, "Gizmotron")[0].startswith("Why does the queue grow?")


def test_a_title_that_another_machine_states_is_found(palace: Palace, tmp_path: Path) -> None:
    clock = Ticking()
    with Palace.open(tmp_path / "other.db", embedder=HashedWords, clock=clock) as other:
        file_rows(other, ROWS, source=TITLED)
        _hear(palace.database, other)
        assert texts(palace, "Gizmotron")[0].startswith("Why does the queue grow?")
        with other.database.transaction() as connection:
            source_rows.file_source(connection, replace(TITLED, title="Quokka census"), clock())
        _hear(palace.database, other)
    assert texts(palace, "quokka")[0].startswith("Why does the queue grow?")


def _hear(database: Database, other: Palace) -> None:
    with other.database.snapshot() as connection:
        lines = [record_lines.to_line(record) for record in record_reader.records(connection, tombstones=True)]
    merge(database, map(record_lines.from_line, lines), Ticking())


def test_a_chat_is_found_by_its_title_in_other_words(tmp_path: Path) -> None:
    chat = replace(SESSION, title="Kubernetes probes")
    rows = [said(1, "user", "Why is it restarted every minute?"), said(2, "assistant", "It answers too late.")]
    with Palace.open(tmp_path / "palace.db", embedder=lambda: MiniLM(1), clock=Ticking()) as palace:
        file_rows(palace, rows, source=chat)
        file_version(palace, "# Marsupials\n\nThey hop.\n\n## Food\n\nThey eat grass, and restart at dawn.\n")
        assert texts(palace, "Kubernetes") == [f"{rows[0].text}\n\n{rows[1].text}"]
        palace.embed_pending()
        query = Query("liveness checks of containers in a cluster", disabled_stages=frozenset(["floor"]))
        nearest = palace.search(query).hits[0].drawer
        assert nearest.source.title == "Kubernetes probes"
        file_rows(palace, [said(3, "user", "And now?")], source=replace(chat, title="Bread recipes"))
        palace.embed_pending()
        assert complaints(palace) == []
        with palace.database.snapshot() as connection:
            assert not vector_rows.any_pending(connection)
            ((headings,),) = connection.execute(
                "SELECT count(*) FROM source_heading h JOIN vector v ON v.hash = h.hash"
            )
        assert headings == 2


def test_sessions_without_a_title_get_no_vector_of_their_directory(palace: Palace) -> None:
    file_rows(palace, ROWS, source=replace(SESSION, title=""))
    with palace.database.snapshot() as connection:
        assert list(connection.execute("SELECT hash, is_pending FROM source_heading")) == [(None, 0)]


def test_a_title_that_waits_for_its_vector_is_counted_as_pending(palace: Palace) -> None:
    file_rows(palace, ROWS, source=TITLED)
    palace.embed_pending()
    assert palace.search(Query("queue")).index == "ready"
    with palace.database.transaction() as connection:
        source_headings.await_all_vectors(connection)
        assert vector_rows.count_pending(connection) == 0
        assert vector_rows.count_pending_vectors(connection) == 1
    assert palace.search(Query("queue")).index == "building"
    palace.embed_pending()
    assert palace.search(Query("queue")).index == "ready"


def test_an_erased_title_leaves_no_hash(palace: Palace) -> None:
    file_rows(palace, ROWS, source=TITLED)
    palace.embed_pending()
    with palace.database.snapshot() as connection:
        ((before,),) = connection.execute("SELECT hash FROM source_heading")
    erase(palace, "Gizmotron task 017")
    with palace.database.snapshot() as connection:
        ((after,),) = connection.execute("SELECT hash FROM source_heading")
        assert after != before
        assert list(connection.execute("SELECT 1 FROM vector WHERE hash = ?", (before,))) == []
