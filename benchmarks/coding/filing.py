"""Files the coding suite's corpus among the distractors, and finds out which drawers answer which question.

Owns the scratch palace and what counts as right: a drawer with a span that holds the beginning of a gold's words, in
the source that the gold names. A document is one item, so an item alone would be right wherever it is cut.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from benchmarks.coding.distractors import DAY, OnProgress, distractors
from benchmarks.coding.questions import Gold, Question
from benchmarks.coding.sessions import CORPUS, DIGESTS, session_id, write_sessions

from palazzo.index.embedder import Embedder
from palazzo.index.passage_embedding import current_embedder
from palazzo.palace import Palace
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine
from palazzo.store import items, vector_rows
from palazzo.store.database import Connection
from palazzo.store.plain_index import PlainIndex

DEPTH = 50


def file_corpus(
    scratch: Path,
    count: int,
    embedder: Embedder,
    on_progress: OnProgress | None = None,
    rewrite: Callable[[Path], None] | None = None,
) -> Path:
    """Return a palace in `scratch` with the corpus among `count` distractors (none: the corpus alone), with vectors.

    `rewrite` may change the transcript of each hand-written session first.
    """
    palace_file = scratch / "palace.db"
    if count:
        shutil.copy(distractors(count, embedder, on_progress=on_progress), palace_file)
    shutil.copytree(CORPUS / "palazzo", scratch / "palazzo")
    shutil.copytree(CORPUS / "captured", scratch / "captured")
    for path in (scratch / "palazzo").rglob("*"):
        os.utime(path, (DAY, DAY))
    for corpus in (CORPUS, DIGESTS):
        for transcript in write_sessions(scratch / "projects", corpus).values():
            if rewrite is not None:
                rewrite(transcript)
    with Palace.open(palace_file, embedder=lambda: embedder) as palace:
        for part in ("projects", "captured", "palazzo"):
            mine(palace.database, palace.clock, MineRequest((scratch / part,)))
        palace.embed_pending(on_progress)
    return palace_file


def right_drawers(connection: Connection, questions: Iterable[Question]) -> dict[str, set[str]]:
    """Return the ids of the drawers that answer, by question. Raises `ValueError` for a gold that no drawer holds."""
    held = _Held(connection)
    return {one.id: set().union(*(held.drawers(one, gold) for gold in one.golds)) for one in questions}


class _Held:
    """The corpus' items by source, as they were filed."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sources: dict[str, list[int]] = {}
        for row, session, uri in connection.execute(
            "SELECT i.id, s.session_id, s.uri FROM item i JOIN source s ON s.id = i.source"
        ):
            for name in (str(session), str(uri).rpartition("/palazzo/")[2], Path(str(uri)).name):
                self._sources.setdefault(name, []).append(int(row))

    def drawers(self, question: Question, gold: Gold) -> set[str]:
        name = gold.source.removeprefix("corpus/captured/").removeprefix("corpus/palazzo/")
        rows = self._sources.get(name) or self._sources.get(session_id(name), [])
        found = set()
        for row, text in items.read_texts(self._connection, rows).items():
            start = text.find(gold.words)
            if start >= 0:
                found |= _drawers_at(self._connection, row, start)
        if not found:
            raise ValueError(f"Question {question.id}: no drawer of {gold.source} holds '{gold.words}'")
        return found


def _drawers_at(connection: Connection, item: int, place: int) -> set[str]:
    rows = connection.execute(
        "SELECT d.uid FROM drawer_span s JOIN drawer d ON d.id = s.drawer"
        " WHERE s.item = ? AND s.start <= ? AND s.end > ? AND d.retired_at IS NULL",
        (item, place, place),
    )
    return {bytes(uid).hex() for (uid,) in rows}


class Plain:
    """What bare FTS5 and bare vectors give over the same drawers: one row each, and its nearest passage."""

    def __init__(self, connection: Connection, embedder: Embedder) -> None:
        self._embedder = embedder
        texts = _drawer_texts(connection)
        ids = {int(row): bytes(uid).hex() for row, uid in connection.execute("SELECT id, uid FROM drawer")}
        self._ids = [ids[row] for row in texts]
        self._words = PlainIndex(list(texts.values()))
        current = current_embedder(connection)
        assert current is not None, "the corpus was filed with vectors"
        rows = list(vector_rows.vectors_of(connection, current[0]))
        self._drawers = [ids[row.drawer] for row in rows]
        codes = np.frombuffer(b"".join(row.body for row in rows), dtype=np.int8).reshape(len(rows), -1)
        self._vectors = codes.astype(np.float32) * np.array([[row.scale] for row in rows], dtype=np.float32)

    def rank(self, question: str) -> Mapping[str, Sequence[str]]:
        """Return drawers' ids, best first, by each way."""
        order = np.argsort(-(self._vectors @ self._embedder.embed_query(question)), kind="stable")[: 4 * DEPTH]
        return {
            "bm25": [self._ids[n] for n in self._words.rank(question, DEPTH)],
            "vectors": list(dict.fromkeys(self._drawers[int(n)] for n in order))[:DEPTH],
        }


def _drawer_texts(connection: Connection) -> dict[int, str]:
    """Return the text of every live drawer, by row."""
    spans = list(
        connection.execute(
            "SELECT s.drawer, s.item, s.start, s.end FROM drawer_span s JOIN drawer d ON d.id = s.drawer"
            " WHERE d.retired_at IS NULL ORDER BY s.drawer, s.n"
        )
    )
    whole = items.read_texts(connection, (item for _, item, _, _ in spans))
    texts: dict[int, list[str]] = {}
    for drawer, item, start, end in spans:
        texts.setdefault(drawer, []).append(whole[item][start:end])
    return {drawer: "\n".join(parts) for drawer, parts in texts.items()}
