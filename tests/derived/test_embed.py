"""Vectors: made in the background, once for each text, by one embedder, and never mixed with another's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.archive.conversations import answered, file_rows, said
from tests.index.hashed_words import HashedWords

from palazzo.errors import EmbedderUnavailable
from palazzo.index import passage_embedding
from palazzo.index.query import Query
from palazzo.palace import Palace
from palazzo.store import vector_rows


def waiting(palace: Palace) -> int:
    with palace.database.snapshot() as connection:
        return vector_rows.count_pending(connection)


def without_vector(palace: Palace) -> int:
    """Passages of live drawers that neither have a vector of the palace's embedder nor wait for one."""
    with palace.database.snapshot() as connection:
        current = passage_embedding.current_embedder(connection)
        rows = connection.execute(
            "SELECT count(*) FROM passage p JOIN drawer d ON d.id = p.drawer WHERE d.retired_at IS NULL"
            " AND p.id NOT IN (SELECT passage FROM pending)"
            " AND NOT EXISTS (SELECT 1 FROM vector WHERE embedder = ? AND hash = p.hash)",
            (current[0] if current else -1,),
        )
        return int(next(rows)[0])


@given(st.lists(st.lists(st.floats(-1, 1, width=32), min_size=4, max_size=4), min_size=1, max_size=5))
def test_a_quantised_vector_is_within_half_a_step(rows: list[list[float]]) -> None:
    matrix = np.array(rows, dtype=np.float32)
    for (_, scale, body), row in zip(passage_embedding.quantise([b""] * len(rows), matrix), matrix, strict=True):
        assert np.abs(np.frombuffer(body, dtype=np.int8) * np.float32(scale) - row).max() <= scale * 0.5001


def test_a_new_drawer_waits_for_its_vector_and_search_says_so(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "hello zebra")])
    assert palace.search(Query("zebra")).index == "keyword-only"
    palace.embed_pending()
    assert palace.search(Query("zebra")).index == "ready"
    file_rows(palace, [said(1, "user", "hello giraffe")])
    answer = palace.search(Query("giraffe"))
    assert (answer.index, answer.hits[0].drawer.text) == ("building", "hello giraffe")


def test_the_same_words_are_embedded_once(palace: Palace, embedder: HashedWords) -> None:
    file_rows(palace, [said(n, "user", "the same words") for n in range(40)])
    assert palace.embed_pending() == 40
    assert embedder.embedded.count("the same words") <= 3


def test_embedding_that_was_stopped_goes_on_where_it_was(palace: Palace) -> None:
    file_rows(palace, [said(n, "user", f"text {n}") for n in range(50)])
    steps = iter([False, True])
    assert palace.embed_pending(stop=lambda: next(steps)) == passage_embedding.BATCH
    assert waiting(palace) == 50 - passage_embedding.BATCH
    assert palace.embed_pending() == 50 - passage_embedding.BATCH
    assert (waiting(palace), without_vector(palace)) == (0, 0)


def test_two_embedders_are_never_mixed(palace: Palace, embedder: HashedWords) -> None:
    file_rows(palace, [said(0, "user", "hello zebra")])
    palace.embed_pending()
    file_rows(palace, [said(1, "user", "hello giraffe")])
    other = HashedWords("another")
    with pytest.raises(EmbedderUnavailable, match=r"another.*repair --rebuild vectors"):
        passage_embedding.embed_pending(palace.database, other)
    assert other.embedded == []
    embedder.id = other.id
    answer = palace.search(Query("zebra"))
    assert (answer.index, len(answer.hits)) == ("keyword-only", 1)
    assert "another" in answer.note


class Interrupted(HashedWords):
    """Something happens while this embedder works."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__()
        self.happens = happens

    def embed(self, texts):  # type: ignore[no-untyped-def]
        self.happens()
        return super().embed(texts)


def test_vectors_that_an_old_embedder_finishes_late_do_not_count_for_the_new_one(
    palace: Palace, open_palace: Callable[[], Palace]
) -> None:
    """One process embeds while another changes the embedder: no passage may be left with neither vector nor wait."""
    file_rows(palace, [said(n, "user", f"text {n}") for n in range(40)])
    other, newer = open_palace(), HashedWords("newer")

    def change() -> None:
        if not newer.embedded:
            other.rebuild("vectors")
            passage_embedding.embed_pending(other.database, newer, stop=lambda: bool(newer.embedded))

    with pytest.raises(EmbedderUnavailable):
        passage_embedding.embed_pending(palace.database, Interrupted(change))
    assert without_vector(palace) == 0
    passage_embedding.embed_pending(palace.database, newer)
    assert (waiting(palace), without_vector(palace)) == (0, 0)


def test_a_drawer_that_is_retired_while_it_is_embedded_does_no_harm(
    palace: Palace, open_palace: Callable[[], Palace]
) -> None:
    file_rows(palace, [said(0, "user", "hello zebra")])
    other = open_palace()
    answer = palace.search(Query("zebra"))
    passage_embedding.embed_pending(palace.database, Interrupted(lambda: other.forget([answer.hits[0].drawer.id])))
    assert palace.search(Query("zebra")).hits == []
    assert waiting(palace) == 0


def test_tool_output_that_differs_in_a_number_has_a_vector_of_its_own(palace: Palace, embedder: HashedWords) -> None:
    """Such vectors are not shared: the number may be what is asked for (`benchmarks/near_repeats.py`)."""
    outputs = ["the deploy port is 8443", "the deploy port is 9443"]
    rows = [said(0, "user", "where is it?"), *(answered(n, text, f"c{n}") for n, text in enumerate(outputs, start=1))]
    file_rows(palace, rows)
    palace.embed_pending()
    assert sorted(text for text in embedder.embedded if text in outputs) == outputs
