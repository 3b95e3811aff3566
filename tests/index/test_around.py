"""Neighbours, windows and coverage, in a real palace."""

from __future__ import annotations

import numpy as np
import pytest
from tests.archive.conversations import Ticking

from palazzo.archive.identity import message_id
from palazzo.archive.ingest import NewItem, file, prepare
from palazzo.archive.ingest_guard import Guard
from palazzo.model import Micros, Place, Source
from palazzo.palace import Palace
from palazzo.store import drawers

WORDS = ("the harbour opens", "a pilot came", "fog all day", "the lighthouse fell", "nobody was hurt")


@pytest.fixture
def talk(palace: Palace) -> list[int]:
    """A conversation of people, a drawer for each message; returns the drawers' rows in order."""
    clock = Ticking()
    filings = [
        NewItem(message_id("t", "s", str(n)), words, "message", "user", words.encode(), author=name, ordinal=n)
        for n, (words, name) in enumerate(zip(WORDS, ["Mara", "Tom"] * 3, strict=False))
    ]
    with palace.database.transaction() as connection:
        prepared = prepare(filings, Guard.of(palace.database))
        file(connection, Source(("t",), "t", "x:t", "s"), Place("w", "r"), prepared, Micros(clock()))
    with palace.database.snapshot() as connection:
        return [row for (row,) in connection.execute("SELECT id FROM drawer ORDER BY ordinal")]


def test_neighbours_are_the_nearest_on_each_side(palace: Palace, talk: list[int]) -> None:
    with palace.database.snapshot() as connection:
        assert drawers.read_neighbours(connection, [talk[2], 999, talk[0]]) == {
            talk[2]: ((talk[1], talk[0]), (talk[3], talk[4])),
            talk[0]: ((), (talk[1], talk[2], talk[3])),
        }


def test_a_drawer_that_was_forgotten_is_no_neighbour(palace: Palace, talk: list[int]) -> None:
    with palace.database.snapshot() as connection:
        (uid,) = next(connection.execute("SELECT uid FROM drawer WHERE id = ?", (talk[1],)))
    palace.forget([uid.hex()])
    with palace.database.snapshot() as connection:
        assert drawers.read_neighbours(connection, [talk[2]]) == {talk[2]: ((talk[0],), (talk[3], talk[4]))}
        assert set(drawers.read_placements(connection, talk)) == {talk[0], *talk[2:]}


def test_authors_are_told_once_each(palace: Palace, talk: list[int]) -> None:
    with palace.database.snapshot() as connection:
        assert drawers.authors(connection) == ["Mara", "Tom"]


def test_a_window_s_cosine_is_that_of_the_mean_of_its_vectors(palace: Palace, talk: list[int]) -> None:
    palace.embed_pending()
    embedder = palace.embedder()
    vectors = embedder.embed(list(WORDS))
    query = embedder.embed_query("pilot fog")
    from palazzo.index.vector_index import VectorIndex
    from palazzo.store.vector_rows import embedder_id

    with palace.database.transaction() as connection:
        index = VectorIndex(embedder_id(connection, embedder.id, embedder.dimension), embedder.dimension)
        index.follow(connection)
    mean = vectors[0] + vectors[1] + vectors[2]
    expected = float(mean @ query / np.linalg.norm(mean))
    found = index.window_cosines(({talk[1]: talk[:3], 7: [999]}, {talk[0]: talk[:1]}), query)
    assert found == [
        {talk[1]: pytest.approx(expected, abs=0.01)},
        {talk[0]: pytest.approx(float(vectors[0] @ query), abs=0.01)},
    ]
