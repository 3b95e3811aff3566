"""Fit the chance that there is an answer at all, on dev halves, and say what each floor would do.

    python benchmarks/fit_floor.py [--distractors 0 2000] [--sets palazzo scrapy] [--held-out] [--json]

A logistic regression over three pieces of evidence (`index/score.Nearness`). Answers are right if one of the five best
hits is. They come from palaces of all sizes: one page of a documentation set (its own questions, and what stands
nowhere), whole sets (`docs_search.py`), and the coding suite among few and many distractors, whose unanswerable
questions have no answer. `--held-out` reports the other halves by the weights in use.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.coding.distractors import remembering
from benchmarks.coding.filing import file_corpus, right_drawers
from benchmarks.coding.questions import read_dev_questions
from benchmarks.coding.questions import read_questions as read_coding_questions
from benchmarks.coding_suite import Surroundings
from benchmarks.docs_search import NOWHERE, QUESTIONS, DocsQuestion, file_pages, read_questions, write_corpus
from benchmarks.fit_score import _logistic
from benchmarks.measuring import Row, report

from palazzo.features.search.contract import SearchRequest, SearchResult
from palazzo.features.search.search import search
from palazzo.index import score
from palazzo.index.embedder import Embedder
from palazzo.operations.context import Context

SETS = ("palazzo", "scrapy")
FLOORS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)
NO_FLOOR = ("floor",)


@dataclass(frozen=True, slots=True)
class Judged:
    """The evidence about one answer, and whether one of its five best hits is right."""

    group: str
    evidence: tuple[float, float, float]
    right: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, and print the weights and the floors."""
    parser = argparse.ArgumentParser(description="Fit the chance of an answer.")
    parser.add_argument("--distractors", type=int, nargs="+", default=[0, 2_000])
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--held-out", action="store_true", help="what the floors do on the other halves")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    half, embedder = "held-out" if given.held_out else "dev", remembering()
    judged = [*judge_documents(given.sets, half, embedder)]
    for count in given.distractors:
        judged += judge_coding(count, half, embedder)
    scale = score.NEARNESS_BY_TOKENS
    in_use = np.array([*scale.weights, scale.intercept])
    weights = in_use
    if not given.held_out:
        weights = fit(judged)
        names = (*score.Nearness._fields, "intercept")
        rows = zip(names, weights, in_use, strict=True)
        table: list[Row] = [{"weight": name, "fitted": round(float(a), 2), "in use": float(b)} for name, a, b in rows]
        report("The chance of an answer", table, given.json)
    report(f"Rejected below each floor ({half})", floors(judged, weights), given.json)
    return 0


def fit(judged: Sequence[Judged]) -> NDArray[np.float64]:
    """Return the weights and the intercept."""
    own, intercept = _logistic(
        np.array([one.evidence for one in judged]), np.array([one.right for one in judged], dtype=bool)
    )
    return np.array([*own, intercept])


def floors(judged: Sequence[Judged], weights: NDArray[np.float64]) -> list[Row]:
    """Return, for each group, how many answers each floor rejects."""
    rows: list[Row] = []
    for group in dict.fromkeys(one.group for one in judged):
        values = [one.evidence for one in judged if one.group == group]
        chances = 1 / (1 + np.exp(-(np.array(values) @ weights[:-1] + weights[-1])))
        row: Row = {"answers": group, "number": len(values)}
        rows.append(row | {str(floor): int((chances < floor).sum()) for floor in FLOORS})
    return sorted(rows, key=lambda row: str(row["answers"]))


def judge_documents(sets: Sequence[str], half: str, embedder: Embedder) -> Iterator[Judged]:
    """Ask the questions of the sets, and what stands nowhere, in a palace of all and in palaces of one page each."""
    stored = json.loads(QUESTIONS.read_text("utf-8"))
    questions = [one for one in read_questions(stored) if one.half == half and one.name in {*sets, NOWHERE}]
    corpus = write_corpus({name: stored[name] for name in sets})
    nowhere = [one for one in questions if one.name == NOWHERE]
    with tempfile.TemporaryDirectory(prefix="palazzo-floor-") as scratch:
        palace = Path(scratch) / "all.db"
        for name in sets:
            file_pages(palace, [corpus / name], name, embedder)
        with Surroundings(palace, embedder) as context:
            yield from (
                _judge_page(context, one, wing, corpus, "whole sets") for one in questions for wing in _wings(one)
            )
        for n, one in enumerate(one for one in questions if one.name != NOWHERE):
            palace = Path(scratch) / f"{n}.db"
            file_pages(palace, [corpus / min(one.files)], one.name, embedder)
            with Surroundings(palace, embedder) as context:
                for asked in (one, *nowhere[n % 2 :: 2]):
                    yield _judge_page(context, asked, None, corpus, "one page")


def _wings(one: DocsQuestion) -> tuple[str | None, ...]:
    return (None,) if one.name == NOWHERE else (None, one.name)


def _judge_page(context: Context, one: DocsQuestion, wing: str | None, corpus: Path, size: str) -> Judged:
    with evidence() as seen:
        result = search(context, SearchRequest(one.text, wing=wing, without=NO_FLOOR))
    right = any(hit.source.uri.rpartition(f"{corpus}/")[2] in one.files for hit in result.hits)
    return _judged(f"{'nowhere' if one.name == NOWHERE else 'pages'}, {size}", seen, right)


def judge_coding(distractors: int, half: str, embedder: Embedder) -> Iterator[Judged]:
    """Ask the questions of the coding suite."""
    stored = json.loads(QUESTIONS.read_text("utf-8"))
    nowhere = [one.text for one in read_questions(stored) if one.name == NOWHERE and one.half == half]
    with (
        tempfile.TemporaryDirectory(prefix="palazzo-floor-") as scratch,
        Surroundings(file_corpus(Path(scratch), distractors, embedder), embedder) as context,
    ):
        held_out = [one for one in read_coding_questions() if one.split == half]
        questions = read_dev_questions() if half == "dev" else held_out
        with context.reading().database.snapshot() as connection:
            right = right_drawers(connection, questions)
        for one in questions:
            with evidence() as seen:
                result: SearchResult = search(context, SearchRequest(one.text, drawers=True, without=NO_FLOOR))
            kind = "coding" if one.golds else "coding, unanswerable"
            good = any(hit.id in right[one.id] for hit in result.hits)
            yield _judged(f"{kind}, {distractors:,} distractors", seen, good)
        for text in nowhere:
            with evidence() as seen:
                search(context, SearchRequest(text, without=NO_FLOOR))
            if seen[-1][2] != 1.0:  # the suite's own documents quote one of the codes
                yield _judged(f"nowhere, {distractors:,} distractors", seen, False)


def _judged(group: str, seen: Sequence[tuple[float | None, float | None, float | None]], right: bool) -> Judged:
    first, cosine, held = seen[-1]
    probability = min(max(first or 0.0, 1e-9), 1 - 1e-9)
    log_odds = score._AVERAGE.log_odds if first is None else math.log(probability / (1 - probability))
    group = group if right or group.startswith(("nowhere", "coding, un")) else f"{group}, missed"
    return Judged(group, (log_odds, cosine or 0.0, score._AVERAGE.held if held is None else held), right)


@contextmanager
def evidence() -> Iterator[list[tuple[float | None, float | None, float | None]]]:
    """Record what the chance of an answer is computed from."""
    seen: list[tuple[float | None, float | None, float | None]] = []
    own = score.answer_chance

    def recording(
        first: float | None, cosine: float | None, held: float | None, scale: score.NearnessScale = score.NEARNESS
    ) -> float:
        seen.append((first, cosine, held))
        return own(first, cosine, held, scale)

    score.answer_chance = recording
    try:
        yield seen
    finally:
        score.answer_chance = own


if __name__ == "__main__":
    sys.exit(main())
