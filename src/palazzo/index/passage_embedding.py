"""The embedding consumer: computes vectors for passages in the background, newest first.

A vector is a function of a text and a model, and is stored under the text's hash, so the same text is embedded once.
Texts that differ in a number only are embedded each, also tool output: there are so few that sharing their vectors
would save about one percent of the work, and the number is often what is asked for (`benchmarks/near_repeats.py`).

Embedding happens outside any transaction; storing takes the lock for a moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from palazzo.errors import EmbedderUnavailable
from palazzo.index.embedder import Embedder
from palazzo.index.failure_isolation import process_text, set_drawer_aside
from palazzo.index.vector_keys import text_hash
from palazzo.store import change_log, items, source_headings, vector_rows
from palazzo.store.database import Connection, Database

if TYPE_CHECKING:
    import numpy as np

BATCH = 16
"""Texts between two commits: a third of a second of work, so an interruption loses little."""
CONSUMER = "embed"
"""The consumer that sets drawers aside if the embedder refuses one of their passages."""
_VERSION = 1
_EMBEDDER = "embedder"

Progress = Callable[[int, int], None]
"""Called with (vectors made so far, passages pending at the start)."""


def adopt(connection: Connection, embedder: Embedder) -> int:
    """Return the row id of `embedder`, if it makes this palace's vectors.

    The first embedder of a palace is adopted. Raises EmbedderUnavailable for any other: vectors of two models cannot be
    compared.
    """
    current = current_embedder(connection)
    if current is None:
        row = vector_rows.embedder_id(connection, embedder.id, embedder.dimension)
        connection.execute("INSERT INTO meta(key, value) VALUES(?, ?)", (_EMBEDDER, row))
        return row
    row, name, _ = current
    if name != embedder.id:
        raise EmbedderUnavailable(
            f"The vectors of this palace were made by {name}, but the settings name {embedder.id}. Restore the "
            "embedder setting, or run 'palazzo repair --rebuild vectors' to rebuild them."
        )
    return row


def current_embedder(connection: Connection) -> tuple[int, str, int] | None:
    """Return (row id, name, dimension) of the embedder of this palace's vectors."""
    rows = connection.execute(
        "SELECT embedder.id, name, dimension FROM meta JOIN embedder ON embedder.id = meta.value WHERE key = ?",
        (_EMBEDDER,),
    )
    for row, name, dimension in rows:
        return int(row), str(name), int(dimension)
    return None


def replace_embedder(connection: Connection) -> None:
    """Forget which embedder the palace uses and put every passage on the waiting list.

    Vectors of the old embedder are kept until the next one has made its own.
    """
    connection.execute("DELETE FROM meta WHERE key = ?", (_EMBEDDER,))
    vector_rows.await_all(connection)
    change_log.append(connection, "reset", [0])


def embed_pending(
    database: Database,
    embedder: Embedder,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> int:
    """Make vectors for the waiting passages, newest first, until none waits; return how many were made.

    Several processes may do this at once: a text that was embedded twice is stored once. Raises EmbedderUnavailable
    when the palace's vectors are another embedder's, or become so meanwhile.
    """
    with database.transaction() as connection:
        row = adopt(connection, embedder)
        total = vector_rows.count_pending(connection)
    count = 0
    while True:
        if stop and stop():
            return count
        with database.snapshot() as connection:
            batch = vector_rows.pending_passages(connection, BATCH)
            texts = _texts(connection, batch)
            ready = vector_rows.with_vectors(connection, row, {passage[1] for passage in batch})
        if not batch:
            break
        missing_texts = {digest: text for digest, text in texts.items() if digest not in ready}
        batch_vectors = _BatchVectors(embedder)
        rows = batch_vectors.rows(missing_texts)
        with database.transaction() as connection:
            row = adopt(connection, embedder)  # again: the palace may have been given another meanwhile
            same = vector_rows.still_read(connection, ((passage[0], passage[1]) for passage in batch))
            batch = [passage for passage in batch if passage[0] in same]  # words of the others were erased meanwhile
            for passage, digest, *_ in batch:
                if digest in batch_vectors.failed:
                    _set_aside(connection, passage, batch_vectors.failed[digest])
            wanted_hashes = {passage[1] for passage in batch}
            vector_rows.insert_vectors(
                connection, row, (vector_row for vector_row in rows if vector_row[0] in wanted_hashes)
            )
            vector_rows.settle(connection, (passage[0] for passage in batch))
            change_log.append(connection, "vector+", (passage[0] for passage in batch))
        count += len(batch)
        if progress:
            progress(count, max(total, count))
    _embed_headings(database, embedder, stop)
    return count


def _embed_headings(database: Database, embedder: Embedder, stop: Callable[[], bool] | None) -> None:
    """Make vectors for the titles, directories and paths that wait for one.

    A text that the embedder refuses has none: its drawer is found by these words only.
    """
    while not (stop and stop()):
        with database.snapshot() as connection:
            batch = source_headings.pending_headings(connection, BATCH)
            texts = {
                digest: source_headings.source_words(connection, source, drawer) for source, drawer, digest in batch
            }
        if not batch:
            return
        current_texts = {digest: text for digest, text in texts.items() if text_hash(text) == digest}
        rows = _BatchVectors(embedder).rows(current_texts)
        with database.transaction() as connection:
            embedder_row = adopt(connection, embedder)
            same_hashes = {
                digest for source, _, digest in batch if source_headings.read_heading(connection, source)[1] == digest
            }  # the words of the others were erased meanwhile
            vector_rows.insert_vectors(connection, embedder_row, (row for row in rows if row[0] in same_hashes))
            source_headings.settle_vectors(connection, ((source, digest) for source, _, digest in batch))
            vector_rows.report_changed(connection, {drawer for _, drawer, _ in batch})


class _BatchVectors:
    """Makes the vectors of some texts. `failed` holds the errors of the texts that the embedder refuses, by hash."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.failed: dict[bytes, Exception] = {}

    def rows(self, texts: Mapping[bytes, str]) -> list[tuple[bytes, float, bytes]]:
        """Return the rows of texts by hash. A batch that fails is halved until a single text fails."""
        if not texts:
            return []
        rows = process_text(lambda: quantise(list(texts), self._embedder.embed(list(texts.values()))))
        return self._rows_of_halves(texts, rows) if isinstance(rows, Exception) else rows

    def _rows_of_halves(self, texts: Mapping[bytes, str], error: Exception) -> list[tuple[bytes, float, bytes]]:
        pairs = list(texts.items())
        if len(pairs) > 1:
            middle = len(pairs) // 2
            return [*self.rows(dict(pairs[:middle])), *self.rows(dict(pairs[middle:]))]
        if not self.failed:
            self._embedder.embed(["harmless words"])  # if these fail too, that is raised: no text is the cause
        self.failed[pairs[0][0]] = error
        return []


def _set_aside(connection: Connection, passage: int, error: Exception) -> None:
    """Set the drawer of a passage aside: it can then be found only by keyword."""
    for (drawer,) in list(connection.execute("SELECT drawer FROM passage WHERE id = ?", (passage,))):
        set_drawer_aside(connection, CONSUMER, drawer, _VERSION, error)


def quantise(hashes: Sequence[bytes], matrix: np.ndarray) -> list[tuple[bytes, float, bytes]]:
    """Return (hash, scale, int8 bytes) rows; row = int8 × scale, within scale / 2 of the float32 vector."""
    import numpy as np

    scales = np.maximum(np.abs(matrix).max(axis=1), 1e-12) / 127
    whole = np.rint(matrix / scales[:, None]).astype(np.int8)
    return [(digest, float(scale), row.tobytes()) for digest, scale, row in zip(hashes, scales, whole, strict=True)]


def _texts(connection: Connection, batch: Sequence[tuple[int, bytes, int, int, int]]) -> dict[bytes, str]:
    """Return the passages' texts by hash."""
    whole = items.read_texts(connection, (item for _, _, item, _, _ in batch))
    return {digest: whole[item][start:end] for _, digest, item, start, end in batch}
