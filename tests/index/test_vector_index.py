"""The vector index: whatever others write, it equals one that was read anew, and so does one that began with a file;
and its short list loses nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from numpy.typing import NDArray
from tests.archive.conversations import EPOCH, PLACE, Ticking, file_rows, file_version, said
from tests.derived.state import drawers
from tests.index.hashed_words import HashedWords

from palazzo.index import passage_embedding, vector_index
from palazzo.index.vector_index import Filter, VectorIndex, best_of_each
from palazzo.model import Micros, Place
from palazzo.palace import Palace
from palazzo.store import vector_rows
from palazzo.store.database import Connection
from palazzo.store.vector_file_paths import vector_file

PLACES = (PLACE, Place("web", "login"), Place("web", "auth"))
EVERYWHERE = Filter()


def seen_by(index: VectorIndex, connection: Connection, query: NDArray[np.float32]) -> tuple[object, ...]:
    """All that can be asked of an index."""
    rows = [int(row) for (row,) in connection.execute("SELECT id FROM drawer")]
    rooms = [int(row) for (row,) in connection.execute("SELECT id FROM room")]
    narrowed = [
        EVERYWHERE,
        *(Filter(rooms=frozenset([room])) for room in rooms),
        *(Filter(kind=kind) for kind in ("exchange", "note", "section", "tool")),
        Filter(since=Micros(EPOCH + 120_000_000)),
        Filter(until=Micros(EPOCH + 120_000_000)),
    ]
    return (
        len(index),
        {row: round(cosine, 5) for row, cosine in index.cosines_of(rows, query).items()},
        [[(row, round(cosine, 5)) for row, cosine in index.nearest(query, 50, only)] for only in narrowed],
    )


class FollowedIndex(RuleBasedStateMachine):
    """Random writes by one process, vectors by a second, and an index that a third follows.

    A fourth follows with a file that it writes at each change, and at each step a fifth begins with that file.
    """

    def __init__(self) -> None:
        super().__init__()
        memory = Path("/dev/shm")
        self.directory = tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)
        path = Path(self.directory.name) / "palace.db"
        clock, self.embedder = Ticking(), HashedWords(dimension=70)
        self.writer = Palace.open(path, clock=clock)
        self.filler = Palace.open(path, clock=clock, embedder=lambda: self.embedder)
        self.reader = Palace.open(path, "read")
        self.index: VectorIndex | None = None
        self.saver: VectorIndex | None = None
        self.rows = 0
        self.thresholds = pytest.MonkeyPatch()
        self.thresholds.setattr(vector_index, "_LEAST_SAVED", 0)
        self.thresholds.setattr(vector_index, "_CHANGED_SHARE", 0)

    def teardown(self) -> None:
        self.thresholds.undo()
        for palace in (self.writer, self.filler, self.reader):
            palace.close()
        self.directory.cleanup()

    @rule(count=st.integers(1, 4), place=st.sampled_from(PLACES))
    def talk(self, count: int, place: Place) -> None:
        rows = [
            said(n, "user" if n % 2 else "assistant", f"word{n % 7} text {n}", thread=str(n // 8))
            for n in range(self.rows, self.rows + count)
        ]
        self.rows += count
        file_rows(self.writer, rows, place=place)

    @rule(text=st.sampled_from(["# A\n\none", "# A\n\ntwo", "# B\n\nthree\n\n# C\n\nfour"]))
    def edit(self, text: str) -> None:
        file_version(self.writer, text)

    @rule(text=st.sampled_from(["a note", "another note", "word1 word2"]))
    def remember(self, text: str) -> None:
        self.filler.remember(text, PLACE)

    @rule(pick=st.integers(0, 100), place=st.sampled_from(PLACES))
    def move(self, pick: int, place: Place) -> None:
        if found := drawers(self.writer):
            self.writer.move([found[pick % len(found)].id], place)

    @rule(pick=st.integers(0, 100))
    def forget(self, pick: int) -> None:
        if found := drawers(self.writer):
            self.writer.forget([found[pick % len(found)].id])

    @rule()
    def fill(self) -> None:
        self.filler.embed_pending()

    @rule()
    def fill_some(self) -> None:
        steps = iter([False, True])
        self.filler.embed_pending(stop=lambda: next(steps))

    @rule()
    def remake_drawers(self) -> None:
        self.writer.rebuild("drawers")

    @rule()
    def remake_vectors(self) -> None:
        self.writer.rebuild("vectors")

    @invariant()
    def equals_one_that_was_read_anew(self) -> None:
        with self.reader.database.snapshot() as connection:
            current = passage_embedding.current_embedder(connection)
            if current is None:
                return
            row, _, dimension = current
            if self.index is None or self.index.embedder != row or self.saver is None:
                self.index = VectorIndex(row, dimension)
                self.saver = VectorIndex.with_file(self.reader.database, current)
            fresh = VectorIndex(row, dimension)
            next_process = VectorIndex.with_file(self.reader.database, current)
            query = self.embedder.embed_query("word1 text")
            for index in (self.index, self.saver, fresh, next_process):
                index.follow(connection)
            expected = seen_by(fresh, connection, query)
            assert seen_by(self.index, connection, query) == expected
            assert seen_by(self.saver, connection, query) == expected
            assert seen_by(next_process, connection, query) == expected
            assert len(fresh) == len(list(vector_rows.vectors_of(connection, row)))
        self.saver.save()
        vectors = len(fresh)
        assert not vectors or vector_file(self.reader.database.path).exists()


TestFollowedIndex = FollowedIndex.TestCase
TestFollowedIndex.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)


def clustered(count: int, dimension: int, seed: int) -> NDArray[np.float32]:
    """Vectors as sentences make them: topics, and within each a spread that falls off by direction."""
    random = np.random.default_rng(seed)
    spread = 1 / np.sqrt(np.arange(1, dimension + 1))
    basis = np.linalg.qr(random.standard_normal((dimension, dimension)))[0]
    centres = random.standard_normal((count // 40, dimension)) * spread
    found = (
        centres[random.integers(len(centres), size=count)] + 0.6 * random.standard_normal((count, dimension)) * spread
    )
    found = found @ basis
    scaled: NDArray[np.float32] = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    return scaled


@pytest.fixture
def filled(palace: Palace) -> Callable[[NDArray[np.float32]], VectorIndex]:
    """Puts vectors into a palace, a drawer each, and reads them."""

    def fill(matrix: NDArray[np.float32]) -> VectorIndex:
        hashes = [n.to_bytes(16) for n in range(1, len(matrix) + 1)]
        with palace.database.transaction() as connection:
            row = vector_rows.embedder_id(connection, "synthetic", matrix.shape[1])
            vector_rows.insert_vectors(connection, row, passage_embedding.quantise(hashes, matrix))
            connection.executemany(
                "INSERT INTO drawer(id, uid, kind, source, thread, ordinal, turn, room, role, author, title,"
                " created_at, recorded_at, trust, branch, commit_id, locator, size, marks)"
                " VALUES(?, ?, 'note', 1, '', 0, 0, ?, '', '', '', ?, 0, 'user', '', '', '', 1, 0)",
                ((n, digest, n % 100, n) for n, digest in enumerate(hashes, 1)),
            )
            connection.executemany(
                "INSERT INTO passage(drawer, item, start, end, hash) VALUES(?, 1, 0, 1, ?)", enumerate(hashes, 1)
            )
        index = VectorIndex(row, matrix.shape[1])
        with palace.database.snapshot() as connection:
            index.follow(connection)
        return index

    return fill


@pytest.mark.parametrize("dimension", [384])
def test_the_short_list_holds_99_of_100_that_a_full_scan_finds(
    filled: Callable[[NDArray[np.float32]], VectorIndex], dimension: int
) -> None:
    matrix = clustered(20_050, dimension, seed=7)
    index, queries = filled(matrix[:20_000]), matrix[20_000:]
    found = 0
    for query in queries:
        nearest = {int(n) + 1 for n in np.argsort(-(matrix[:20_000] @ query))[:50]}
        found += len(nearest & {row for row, _ in index.nearest(query, 50, EVERYWHERE)})
    assert found / (50 * len(queries)) >= 0.99


@pytest.mark.parametrize("rooms", [1, 60], ids=["few", "most"])
def test_a_filter_finds_the_nearest_of_what_it_lets_through(
    filled: Callable[[NDArray[np.float32]], VectorIndex], rooms: int
) -> None:
    matrix = clustered(5_000, 96, seed=3)
    index = filled(matrix)
    allowed = np.array([n for n in range(1, 5001) if n % 100 < rooms])
    best = allowed[np.argsort(-(matrix[allowed - 1] @ matrix[17]))[:10]]
    found = index.nearest(matrix[17], 10, Filter(rooms=frozenset(range(rooms))))
    assert len({row for row, _ in found} & set(best.tolist())) >= 9


def test_a_cosine_is_as_near_as_eight_bits_allow(filled: Callable[[NDArray[np.float32]], VectorIndex]) -> None:
    matrix = clustered(400, 384, seed=5)
    index = filled(matrix)
    for row, cosine in index.cosines_of(range(1, 401), matrix[0]).items():
        assert cosine == pytest.approx(float(matrix[row - 1] @ matrix[0]), abs=0.005)


def test_an_empty_index_finds_nothing(filled: Callable[[NDArray[np.float32]], VectorIndex]) -> None:
    index = filled(np.zeros((0, 96), dtype=np.float32))
    query = clustered(40, 96, seed=1)[0]
    assert index.nearest(query, 5, EVERYWHERE) == []
    assert index.nearest(query, 5, Filter(rooms=frozenset([3]), kind="note", since=Micros(1), until=Micros(2))) == []
    assert index.cosines_of([1, 2], query) == {}


@given(st.lists(st.tuples(st.integers(0, 12), st.sampled_from([0.1, 0.25, 0.5, 0.75])), max_size=60), st.integers(1, 5))
def test_the_best_of_each_drawer_are_those_that_sorting_all_finds(
    passages: list[tuple[int, float]], limit: int
) -> None:
    best: dict[int, float] = {}
    for owner, score in sorted(passages, key=lambda passage: (-passage[1], passage[0])):
        best.setdefault(owner, score)
    owners = np.array([owner for owner, _ in passages], dtype=np.int64)
    scores = np.array([score for _, score in passages], dtype=np.float32)
    found = best_of_each(owners, scores, limit)
    assert [owner for owner, _ in found] == list(best)[:limit]
    assert [score for _, score in found] == pytest.approx(list(best.values())[:limit])


def test_the_last_queries_are_embedded_once() -> None:
    index, embedded_texts = VectorIndex(1, 2), []

    def embed(text: str) -> NDArray[np.float32]:
        embedded_texts.append(text)
        return np.array([len(text), 0], dtype=np.float32)

    for text in ("a", "a", "bb", "a", "ccc", "dddd", "eeeee", "bb", "a"):
        assert index.embed_query(text, embed)[0] == len(text)
    assert embedded_texts == ["a", "bb", "ccc", "dddd", "eeeee", "a"]
