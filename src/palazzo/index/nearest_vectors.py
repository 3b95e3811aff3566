"""The nearest vectors of one query, searched while another thread reads the keyword index."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from palazzo.index.keyword_candidates import KeywordCandidates
from palazzo.index.query import ParsedQuery
from palazzo.index.search_scope import SearchScope
from palazzo.index.token_matching import TokenMatcher
from palazzo.index.vector_index import VectorIndex
from palazzo.store.database import Connection

NEAR = 30
"""Additional candidates per list from the wings that the query names, and from the wing of the caller's project."""
_VECTOR_POOL = ThreadPoolExecutor(max_workers=4, thread_name_prefix="palazzo-nearest")
"""Starts a thread when it is first needed."""


class QueryEmbedder(Protocol):
    """Turns the query into a vector of unit length."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (dimension,) float32."""
        ...


class NearestVectors:
    """The nearest vectors, searched on another thread while this thread reads the keyword index.

    Neither blocks the other: SQLite, ONNX Runtime and NumPy release the interpreter lock while they work.
    """

    def __init__(
        self,
        connection: Connection,
        parsed_query: ParsedQuery,
        index: VectorIndex | None,
        embedder: QueryEmbedder | None,
        scope: SearchScope,
        limit: int,
        uses_vectors: bool,
    ) -> None:
        self._index = index
        self.vector: NDArray[np.float32] | None = None
        self.near: frozenset[int] = frozenset()
        self._reasoning: dict[int, float] = {}
        self._sought: Future[_Nearest] | None = None
        if index is not None and embedder is not None and uses_vectors:
            index.follow(connection)
            self._sought = _VECTOR_POOL.submit(_nearest, index, embedder, parsed_query.sentence, scope, limit)

    @property
    def is_pending(self) -> bool:
        """Whether the nearest vectors are still searched."""
        return self._sought is not None and not self._sought.done()

    def cosines(self, keyword_candidates: KeywordCandidates) -> dict[int, float]:
        """Return the cosines of the nearest drawers and of those found by keyword; empty without vectors."""
        if self._index is None or self._sought is None:
            return {}
        self.vector, nearest, self.near, self._reasoning = self._sought.result()
        remaining_rows = (row for row, _ in keyword_candidates.row_scores if row not in nearest)
        return {**nearest, **self._index.cosines_of(remaining_rows, self.vector)}

    def reasoning_cosines(self, keyword_candidates: KeywordCandidates) -> dict[int, float]:
        """Return the cosines of the nearest reasoning, and of that found by keyword; after `cosines`."""
        if self._index is None or self.vector is None:
            return {}
        remaining_rows = (row for row in keyword_candidates.separate_scores if row not in self._reasoning)
        return {**self._reasoning, **self._index.cosines_of(remaining_rows, self.vector)}


class _Nearest(NamedTuple):
    vector: NDArray[np.float32]
    cosines: dict[int, float]
    near: frozenset[int]
    reasoning_cosines: dict[int, float]


def _nearest(index: VectorIndex, embedder: QueryEmbedder, sentence: str, scope: SearchScope, limit: int) -> _Nearest:
    embed = embedder.embed_query
    vector = embed(sentence) if isinstance(embedder, TokenMatcher) else index.embed_query(sentence, embed)
    nearest = dict(index.nearest(vector, limit, scope.vector_filter))
    near = dict(index.nearest(vector, NEAR, scope.near_vectors)) if scope.near_vectors is not None else {}
    reasoning_cosines = (
        dict(index.nearest(vector, NEAR, scope.reasoning_vectors)) if scope.reasoning_vectors is not None else {}
    )
    return _Nearest(vector, nearest | near, frozenset(near), reasoning_cosines)
