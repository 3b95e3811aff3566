"""Fit the shown score on the dev half of the coding suite, and say what each floor would do.

    python benchmarks/fit_score.py [--distractors 20000] [--json]

Of each question the ten best drawers count, right or wrong: a logistic regression on cosine, share of the possible
BM25, and how much of the question the source covers (a little L2, Newton's method; no chance plays a part). The
figures in `recall/score.py` are these, rounded.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.coding.distractors import remembering
from benchmarks.coding.filing import file_corpus, right_drawers
from benchmarks.coding.questions import read_prompts, read_questions, split
from benchmarks.coding_suite import Surroundings
from benchmarks.measuring import Row, report

from palazzo.operations.context import Context
from palazzo.operations.search import SearchRequest, search
from palazzo.recall import rank, score

BEST = 10
FLOORS = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.35)


@dataclass(slots=True)
class Seen:
    """The best drawers of one question: (rows, 3) signals, and which of them are right."""

    signals: list[tuple[float, float, float]] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, and print the weights and the floors."""
    parser = argparse.ArgumentParser(description="Fit the shown score.")
    parser.add_argument("--distractors", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    questions = [one for one in read_questions() if one.split == "dev"]
    prompts = [prompt for prompt in read_prompts() if split(prompt) == "dev"]
    with tempfile.TemporaryDirectory(prefix="palazzo-score-") as scratch:
        embedder = remembering()
        with Surroundings(file_corpus(Path(scratch), given.distractors, embedder), embedder) as context:
            with context.reading().database.snapshot() as connection:
                right = right_drawers(connection, questions)
                uids = {row: bytes(uid).hex() for row, uid in connection.execute("SELECT id, uid FROM drawer")}
            asked = [_look(context, one.text, uids, right[one.id]) for one in questions]
            prompted = [_look(context, prompt, uids, set()) for prompt in prompts]
    weights = fit(asked)
    names = ("cosine", "share", "covered", "intercept")
    used = (score.COSINE_WEIGHT, score.SHARE_WEIGHT, score.COVERED_WEIGHT, score.INTERCEPT)
    told: list[Row] = [
        {"weight": name, "fitted": round(float(value), 2), "in use": own}
        for name, value, own in zip(names, weights, used, strict=True)
    ]
    report("The shown score", told, given.json)
    answerable = [bool(one.golds) for one in questions]
    best = [_best(one, weights) for one in asked]
    best_of_prompts = np.array([_best(one, weights) for one in prompted])
    rows: list[Row] = [
        {
            "floor": floor,
            "unanswerable refused, %": _share([b < floor for b, a in zip(best, answerable, strict=True) if not a]),
            "answerable refused, %": _share([b < floor for b, a in zip(best, answerable, strict=True) if a]),
            "prompts that pass, %": _share((best_of_prompts >= floor).tolist()),
            "right of what passes, %": _share(
                [good for one in asked for good, p in zip(one.right, _chances(one, weights), strict=True) if p >= floor]
            ),
        }
        for floor in FLOORS
    ]
    report("Floors, on the dev half", rows, given.json)
    return 0


def fit(asked: Sequence[Seen]) -> NDArray[np.float64]:
    """Return the weights of cosine, share and covered, and the intercept."""
    rows = [(*signals, 1.0) for one in asked for signals in one.signals]
    right = np.array([good for one in asked for good in one.right], dtype=float)
    matrix = np.array(rows)
    weights = np.zeros(4)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-matrix @ weights))
        slope = matrix.T @ (chance - right) + 0.01 * weights
        bend = (matrix * (chance * (1 - chance))[:, None]).T @ matrix + 0.01 * np.eye(4)
        weights -= np.linalg.solve(bend, slope)
    return weights


def _look(context: Context, question: str, uids: dict[int, str], right: set[str]) -> Seen:
    """Search, and keep what the ranking and the score saw."""
    seen = Seen()
    ranked: list[rank.Ranked] = []
    ceilings: list[float] = []
    own_rank, own_relevance = rank.rank, score.relevance

    def recording_rank(*arguments: Any) -> list[rank.Ranked]:
        ranked.extend(own_rank(*arguments))
        return ranked

    def recording_score(cosine: float | None, bm25: float | None, ceiling: float, covered: float) -> float:
        ceilings.append(ceiling)
        return own_relevance(cosine, bm25, ceiling, covered)

    rank.rank, score.relevance = recording_rank, recording_score  # type: ignore[assignment]
    try:
        search(context, SearchRequest(question, limit=BEST))
    finally:
        rank.rank, score.relevance = own_rank, own_relevance
    ceiling = ceilings[0] if ceilings else 0.0
    for one in ranked[:BEST]:
        share = min((one.candidate.bm25 or 0.0) / ceiling, 1.0) if ceiling > 0 else 0.0
        seen.signals.append((one.candidate.cosine or 0.0, share, one.signals.covered))
        seen.right.append(uids.get(one.candidate.row, "") in right)
    return seen


def _chances(one: Seen, weights: NDArray[np.float64]) -> list[float]:
    return [float(1 / (1 + np.exp(-(np.array(signals) @ weights[:3] + weights[3])))) for signals in one.signals]


def _best(one: Seen, weights: NDArray[np.float64]) -> float:
    return max(_chances(one, weights), default=0.0)


def _share(values: Sequence[bool]) -> float | None:
    return round(100 * sum(values) / len(values), 1) if values else None


if __name__ == "__main__":
    sys.exit(main())
