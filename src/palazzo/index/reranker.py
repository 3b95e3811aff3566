"""The interface between Palazzo and a model that judges texts against a question, such as a cross-encoder.

Nothing is shipped behind it: `Palace.open(reranker=…)` takes what the caller brings, and `tests/index/test_reranker.py`
holds what every implementation promises. The best candidates are put into the order of its scores; their displayed
scores and the chance of an answer stay those of the ranking, which are fitted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from palazzo.archive.archive_reader import read_drawers
from palazzo.errors import EmbedderUnavailable
from palazzo.index.ranking import NOT_EXAMINED, CandidateRank
from palazzo.store.database import Connection

RERANKED = 10
"""The candidates that a reranker judges: a cross-encoder reads each with the question, some 50 ms each."""


class Reranker(Protocol):
    """Judges texts against a question. It may be called from several threads.

    A score depends only on the question and its own text. Every string can be judged: an empty one, one with NUL, one
    that is longer than the model reads.
    """

    @property
    def id(self) -> str:
        """Return the model and its version: two rerankers with the same id give the same scores."""
        ...

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a finite number for each text, in their order; a higher one answers better.

        Raises EmbedderUnavailable if it cannot judge now: the order then stays as it is.
        """
        ...


def reorder(
    connection: Connection, question: str, candidate_ranks: Sequence[CandidateRank], reranker: Reranker
) -> list[CandidateRank]:
    """Return the candidates with the best `RERANKED` in the order of the reranker's scores, the rest behind them.

    Equal scores keep their order. Raises EmbedderUnavailable if the reranker gives no score for each text.
    """
    best = [each for each in candidate_ranks if _has_evidence(each)][:RERANKED]
    drawers = read_drawers(connection, [each.candidate.row for each in best])
    best = [each for each in best if each.candidate.row in drawers]
    scores = reranker.score(question, [drawers[each.candidate.row].text for each in best]) if best else []
    if len(scores) != len(best) or not all(math.isfinite(score) for score in scores):
        raise EmbedderUnavailable(f"The reranker {reranker.id} gave no score for each text.")
    order = sorted(range(len(best)), key=lambda n: -scores[n])
    ranks = [each.rank for each in best]
    judged = [best[n]._replace(rank=rank) for n, rank in zip(order, ranks, strict=True)]
    rows = {each.candidate.row for each in best}
    return judged + [each for each in candidate_ranks if each.candidate.row not in rows]


def _has_evidence(each: CandidateRank) -> bool:
    candidate = each.candidate
    return each.signals is not NOT_EXAMINED and (candidate.bm25 is not None or candidate.cosine is not None)
