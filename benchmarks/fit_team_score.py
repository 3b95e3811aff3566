"""Fit the score of a team's hits on the dev half of the coding suite, and say how well it is calibrated.

    python benchmarks/fit_team_score.py [--distractors 3000] [--json]

A team server knows neither the sources of a drawer nor its neighbours, so its score has two signals: the cosine, and
how much of the worth of the query's words the drawer contains. A logistic regression on the ten best drawers of each
question (`fit_score.py` has the method). The calibration is that of each sixth of the questions by weights of the
others, beside the score that the palace itself shows for the same drawers: both must mean the same where hits of both
are merged.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.coding.distractors import remembering
from benchmarks.coding.filing import file_corpus, right_drawers
from benchmarks.coding.questions import Question, read_dev_questions
from benchmarks.coding_suite import PLENTY, Surroundings
from benchmarks.fit_score import PARTS, _logistic
from benchmarks.measuring import Row, report

from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.search import search
from palazzo.index import score
from palazzo.index.embedder import Embedder
from palazzo.store import keyword_table
from palazzo.store.drawers import count_drawers
from palazzo.text.word_forms import terms

BEST = 10
BINS = (0.0, 0.05, 0.15, 0.3, 0.5, 0.7, 1.01)


@dataclass(slots=True)
class Ranked:
    """The best drawers of one question: (rows, signals), the palace's own scores, and which of them are right."""

    name: str
    signals: list[tuple[float, float]] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, and print the weights and the calibration."""
    parser = argparse.ArgumentParser(description="Fit the score of a team's hits.")
    parser.add_argument("--distractors", type=int, default=3_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    rankings = rank_questions(read_dev_questions(), options.distractors)
    for title, columns, scale in (
        ("with vectors", [0, 1], score.TEAM),
        ("by keyword alone", [1], score.TEAM_BY_KEYWORD),
    ):
        weights, intercept = fit(rankings, columns)
        fitted = dict(zip([score.TeamEvidence._fields[column] for column in columns], weights, strict=True))
        in_use = {**scale.weights._asdict(), "intercept": scale.intercept}
        rows: list[Row] = [
            {"weight": name, "fitted": round(float(value), 2), "in use": in_use[name]}
            for name, value in {**fitted, "intercept": intercept}.items()
        ]
        report(f"The score of a team's hits, {title}", rows, options.json)
        report(f"Calibration, {title}", calibrate(rankings, columns), options.json)
    return 0


def rank_questions(questions: Sequence[Question], distractors: int) -> list[Ranked]:
    """Ask each question, and keep the evidence of its best drawers."""
    with tempfile.TemporaryDirectory(prefix="palazzo-score-") as scratch:
        embedder = remembering()
        with Surroundings(file_corpus(Path(scratch), distractors, embedder), embedder) as context:
            with context.reading().database.snapshot() as connection:
                right = right_drawers(connection, questions)
            return [_rank(context, question, right[question.id], embedder) for question in questions]


def _rank(context: Surroundings, question: Question, right: set[str], embedder: Embedder) -> Ranked:
    hits = search(context, SearchRequest(question.text, limit=BEST, budget=PLENTY, drawers=True)).hits
    ranked = Ranked(question.id)
    vector = embedder.embed_query(question.text)
    with context.reading().database.snapshot() as connection:
        stems = sorted({stem for term in terms(question.text) for stem in connection.stems(term)})
        frequencies = keyword_table.document_frequencies(connection, stems)
        worth = score.word_worth({stem: frequencies.get(stem, 0) for stem in stems}, count_drawers(connection))
        for hit in hits:
            held = score.held_share(worth, set(connection.stems(f"{hit.text}\n{hit.title}")))
            cosine = float(max(embedder.embed([hit.text]) @ vector))
            ranked.signals.append((cosine, held))
            ranked.scores.append(hit.score)
            ranked.right.append(hit.id in right)
    return ranked


def fit(rankings: Sequence[Ranked], columns: Sequence[int]) -> tuple[NDArray[np.float64], float]:
    """Return the weights of the signals in `columns`, and the intercept."""
    values = np.array([signals for ranked in rankings for signals in ranked.signals])[:, columns]
    return _logistic(values, np.array([is_right for ranked in rankings for is_right in ranked.right]))


def calibrate(rankings: Sequence[Ranked], columns: Sequence[int]) -> list[Row]:
    """Return, for each range of scores, how many drawers have it, and which share of them is right, for both scores."""
    chances, own, right = [], [], []
    for part in range(PARTS):
        tested = [ranked for ranked in rankings if _part_of(ranked.name) == part]
        weights, intercept = fit([ranked for ranked in rankings if _part_of(ranked.name) != part], columns)
        for ranked in tested:
            values = np.array(ranked.signals).reshape(-1, 2)[:, columns]
            chances += list(1 / (1 + np.exp(-(values @ weights + intercept))))
            own += ranked.scores
            right += ranked.right
    is_right = np.array(right)
    rows: list[Row] = []
    for low, high in itertools.pairwise(BINS):
        row: Row = {"score": f"{low:g} to {min(high, 1):g}"}
        for name, values in (("team", np.array(chances)), ("palace", np.array(own))):
            inside = (values >= low) & (values < high)
            row[f"{name}: drawers"] = int(inside.sum())
            row[f"{name}: mean score, %"] = round(100 * float(values[inside].mean()), 1) if inside.any() else None
            row[f"{name}: right, %"] = round(100 * float(is_right[inside].mean()), 1) if inside.any() else None
        rows.append(row)
    return rows


def _part_of(name: str) -> int:
    return hashlib.sha256(name.encode()).digest()[1] % PARTS


if __name__ == "__main__":
    sys.exit(main())
