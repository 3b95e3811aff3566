"""Searching the palace as it was on a day: the usual stages, on a snapshot of that day and an index of its vectors."""

from __future__ import annotations

from dataclasses import replace

from palazzo.index.nearest_vectors import QueryEmbedder
from palazzo.index.presentation import Hit
from palazzo.index.query import Query
from palazzo.index.reranker import Reranker
from palazzo.index.search_pipeline import Answer, search
from palazzo.index.token_matching import TokenMatcher
from palazzo.index.vector_index import VectorIndex
from palazzo.model import Micros
from palazzo.store import change_log, drawer_history
from palazzo.store.database import Connection, Database

AS_OF_POSTINGS = 1_000_000
"""The most postings read for a query as of a day: ten times the budget of a current query, since the rarest words may
all have been said later. It takes a second at most.
"""


class PastIndexes:
    """The vector index of the day that was last requested: built on demand, and rebuilt when the palace changes."""

    def __init__(self) -> None:
        self._held: tuple[tuple[int, Micros, int], VectorIndex] | None = None

    def of(self, connection: Connection, at: Micros, live: VectorIndex) -> VectorIndex:
        """Return the vectors of the drawers live at `at`, from the embedder of the `live` ones."""
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
    matcher: TokenMatcher | None = None,
    reranker: Reranker | None = None,
) -> Answer:
    """Answer `request` as the palace was at `at`. Hits that became longer later are marked as cut."""
    with drawer_history.as_of(database, at) as connection:
        index = indexes.of(connection, at, live) if live is not None else None
        answer = search(connection, request, index, embedder, note, AS_OF_POSTINGS, matcher=matcher, reranker=reranker)
        hits, below = (_mark_truncated(connection, hit_list) for hit_list in (answer.hits, list(answer.below)))
        return replace(answer, hits=hits, below=tuple(below))


def _mark_truncated(connection: Connection, hits: list[Hit]) -> list[Hit]:
    rows = {hit.row: [part.row for part in hit.parts] or [hit.row] for hit in hits}
    later = drawer_history.left_out(connection, [row for drawer_rows in rows.values() for row in drawer_rows])
    lengths = {hit.row: sum(later.get(row, 0) for row in rows[hit.row]) for hit in hits}
    return [replace(hit, truncated=True, later=lengths[hit.row]) if lengths[hit.row] else hit for hit in hits]
