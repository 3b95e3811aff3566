"""The search operation for benchmarks: in a separate palace, with an embedder that is already open."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from palazzo.bench.retrieval import DEPTH, Answer, Ask, SearchHit, SharedEmbedder
from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.search import search
from palazzo.frozen_class import frozen
from palazzo.index.embedder import Embedder
from palazzo.operations.context import Context

_PLENTY = 1_000_000
"""A token budget that is never reached: the shown part of a hit is not measured here."""


@frozen
class SearchRunner:
    """Searches like `palazzo search` with default settings, leaving out the stages and signals named in `without`."""

    without: tuple[str, ...] = ()

    @contextmanager
    def __call__(self, palace: Path, embedder: Embedder) -> Iterator[Ask]:
        """Open the palace for searching."""
        with _Scratch(palace, embedder) as context:
            yield lambda question: self._ask(context, question)

    def _ask(self, context: Context, question: str) -> Answer:
        began = time.perf_counter()
        request = SearchRequest(question, limit=DEPTH, budget=_PLENTY, drawers=True, without=self.without)
        result = search(context, request)
        took = (time.perf_counter() - began) * 1000
        drawer = context.reading().drawer
        hits = (
            SearchHit(hit.source.session_id, tuple(span.item for span in drawer(hit.id).spans)) for hit in result.hits
        )
        return Answer(tuple(hits), took)


class _Scratch(Context):
    """A context without the user's settings, whose embedder is the run's own."""

    def __init__(self, palace: Path, embedder: Embedder) -> None:
        nobody = {"PALAZZO_SERVICE": "off", "HOME": str(palace.parent)}
        super().__init__(palace=palace, cwd=palace.parent, variables=nobody)
        self._own = embedder

    def open_embedder(self, threads: int = 1) -> Embedder:
        """Return the run's embedder, which the run closes."""
        return SharedEmbedder(self._own)
