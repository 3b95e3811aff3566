"""Baselines: what a plain keyword index and plain vectors find, on the same texts, without any of Palazzo's ranking.

One row and one vector for each turn, and one of each for each session. A vector covers as much of a session as the
model reads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from palazzo.bench.haystack import Haystack, line, turn_token
from palazzo.index.embedder import Embedder
from palazzo.store.plain_index import PlainIndex

WAYS = ("bm25", "vector")


class Plain:
    """Both baselines over one haystack."""

    def __init__(self, haystack: Haystack, embedder: Embedder) -> None:
        turns = [
            (turn_token(session.token, n), line(t))
            for session in haystack.held
            for n, t in enumerate(session.talk.turns)
        ]
        sessions = [(session.token, "\n".join(map(line, session.talk.turns))) for session in haystack.held]
        self._embedder = embedder
        self._turns, self._sessions = _Level(turns, embedder), _Level(sessions, embedder)

    def rank(self, question: str, limit: int) -> dict[str, tuple[list[str], list[str]]]:
        """Return the best turns and the best sessions for each method, best first."""
        vector = self._embedder.embed_query(question)
        return {
            "bm25": (self._turns.by_words(question, limit), self._sessions.by_words(question, limit)),
            "vector": (self._turns.by_vector(vector, limit), self._sessions.by_vector(vector, limit)),
        }

    def close(self) -> None:
        """Close the indexes."""
        self._turns.close()
        self._sessions.close()


class _Level:
    def __init__(self, texts: Sequence[tuple[str, str]], embedder: Embedder) -> None:
        self._tokens = [token for token, _ in texts]
        self._words = PlainIndex([text for _, text in texts])
        self._vectors = embedder.embed([text for _, text in texts]) if texts else np.zeros((0, embedder.dimension))

    def by_words(self, question: str, limit: int) -> list[str]:
        return [self._tokens[n] for n in self._words.rank(question, limit)]

    def by_vector(self, vector: NDArray[np.float32], limit: int) -> list[str]:
        nearest = np.argsort(-(self._vectors @ vector), kind="stable")[:limit]
        return [self._tokens[int(n)] for n in nearest]

    def close(self) -> None:
        self._words.close()
