"""Searching the palace as it stood on a day: today's stages, on a snapshot of then and an index of its vectors."""

from __future__ import annotations

from dataclasses import replace

from palazzo.index.presentation import Hit
from palazzo.index.query import Query
from palazzo.index.search_pipeline import Answer, QueryEmbedder, search
from palazzo.index.vector_index import VectorIndex
from palazzo.model import Micros
from palazzo.store import change_log, drawer_history
from palazzo.store.database import Connection, Database

AS_OF_POSTINGS = 1_000_000
"""What the keyword index may read as of a day: ten times as much as today, since the rarest words may all have been
said later. A second of work at most."""


class PastIndexes:
    """The vector index of the day that was last asked about: made on demand, and anew when the palace changes."""

    def __init__(self) -> None:
        self._held: tuple[tuple[int, Micros, int], VectorIndex] | None = None

    def of(self, connection: Connection, at: Micros, live: VectorIndex) -> VectorIndex:
        """Return the vectors of the drawers that were live at `at`, made by the embedder of the `live` ones."""
        key = (live.embedder, at, change_log.head(connection))
        if self._held is None or self._held[0] != key:
            index = VectorIndex(live.embedder, live.dimension)
            index.follow(connection)
            self._held = (key, index)
        return self._held[1]


def search_past(
    database: Database,
    request: Query,
    at: Micros,
    live: VectorIndex | None,
    embedder: QueryEmbedder | None,
    indexes: PastIndexes,
    note: str = "",
) -> Answer:
    """Answer `asked` as the palace stood at `at`. Hits that were longer later say that they are cut."""
    with drawer_history.as_of(database, at) as connection:
        index = indexes.of(connection, at, live) if live is not None else None
        answer = search(connection, request, index, embedder, note, AS_OF_POSTINGS)
        hits, below = (_mark_truncated(connection, hit_list) for hit_list in (answer.hits, list(answer.below)))
        return replace(answer, hits=hits, below=tuple(below))


def _mark_truncated(connection: Connection, hits: list[Hit]) -> list[Hit]:
    later = drawer_history.left_out(connection, [hit.row for hit in hits])
    return [replace(hit, truncated=True, later=later[hit.row]) if hit.row in later else hit for hit in hits]
