"""Fit the shown score on the dev half of the coding suite, and say what each floor would do.

    python benchmarks/fit_score.py [--distractors 20000] [--held-out] [--json]

A logistic regression (L2 on standardised signals, Newton's method; no chance plays a part), in two steps. Of each
question the first hit counts, right or wrong: so questions without an answer are told from others. Then the other nine
of the ten best say, with the rest as it is, what it costs to be behind the first. The figures in `index/score.py` are
these, rounded, with vectors and without. What floors do is said of each sixth of the questions by weights of the
others; `--held-out` says it of the other half instead, by the figures in use.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.coding.distractors import remembering
from benchmarks.coding.filing import file_corpus, right_drawers
from benchmarks.coding.questions import Question, read_dev_questions, read_prompts, read_questions, split
from benchmarks.coding_suite import PLENTY, Surroundings
from benchmarks.measuring import CACHE, Row, report

from palazzo.bench import locomo, retrieval
from palazzo.bench.baselines import Plain
from palazzo.bench.cases import Case
from palazzo.bench.cases import Question as Asking
from palazzo.bench.haystack import Haystack
from palazzo.bench.retrieval import Answer, Ask, QuestionResult, SearchHit
from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.scratch_search import _Scratch
from palazzo.features.search.search import search
from palazzo.index import score
from palazzo.index.embedder import Embedder
from palazzo.index.embedder_choice import EmbedderSpec, open_embedder
from palazzo.operations.context import Context

BEST = 10
SIGNALS = score.Evidence._fields
FLOORS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8)
OF_VECTORS, OF_KEYWORDS, OF_TALK = ("coverage", "rank"), ("share", "coverage", "rank"), ("rank",)
"""What the first step uses: beside a rank by tokens neither the cosine nor the share tells more."""
RIDGE, STEPS, PARTS = 1.0, 50, 6


@dataclass(slots=True)
class Seen:
    """The best drawers of one question or prompt: (rows, signals), and which of them are right."""

    name: str
    answerable: bool
    signals: list[tuple[float, ...]] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, and print the weights and the floors."""
    parser = argparse.ArgumentParser(description="Fit the shown score.")
    parser.add_argument("--talk", type=Path, metavar="LOCOMO", help="fit the score of talk between people instead")
    parser.add_argument("--distractors", type=int, default=20_000)
    parser.add_argument("--held-out", action="store_true", help="what the floors do on the other half")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    if given.talk:
        talked = look_at_talk(json.loads(given.talk.read_bytes()))
        fitted = fit(talked, OF_TALK)
        report("The shown score of talk", _weights(fitted, score.TALK_BY_TOKENS), given.json)
        chances = unseen(talked, [], OF_TALK)
        report("Floors, on LoCoMo", floors(talked, [], chances), given.json)
        return 0
    half = "held-out" if given.held_out else "dev"
    questions = [one for one in read_questions() if one.split == half] if given.held_out else read_dev_questions()
    prompts = [prompt for prompt in read_prompts() if split(prompt) == half]
    ways = (((), OF_VECTORS, score.WORK_BY_TOKENS), (("vectors",), OF_KEYWORDS, score.BY_KEYWORD))
    for stages, names, used in ways:
        asked, prompted = look(questions, prompts, given.distractors, stages)
        if not given.held_out:
            fitted = fit(asked, names)
            report(f"The shown score, {_named(stages)}", _weights(fitted, used), given.json)
        in_use = np.array([*used.weights, used.intercept])
        chances = {one.name: chances_of(one, in_use) for one in (*asked, *prompted)}
        if not given.held_out:
            chances = unseen(asked, prompted, names)
        report(f"Floors, on the {half} half, {_named(stages)}", floors(asked, prompted, chances), given.json)
    return 0


def _weights(fitted: NDArray[np.float64], used: score.Scale) -> list[Row]:
    return [
        {"weight": name, "fitted": round(float(value), 2), "in use": own}
        for name, value, own in zip((*SIGNALS, "intercept"), fitted, (*used.weights, used.intercept), strict=True)
    ]


def look(
    questions: Sequence[Question], prompts: Sequence[str], distractors: int, without: tuple[str, ...]
) -> tuple[list[Seen], list[Seen]]:
    """Ask questions and prompts, without the stages named, and keep what the score saw of the best drawers."""
    with tempfile.TemporaryDirectory(prefix="palazzo-score-") as scratch:
        embedder = remembering()
        with Surroundings(file_corpus(Path(scratch), distractors, embedder), embedder) as context:
            with context.reading().database.snapshot() as connection:
                right = right_drawers(connection, questions)
            asked = [Seen(one.id, bool(one.golds)) for one in questions]
            for one, question in zip(asked, questions, strict=True):
                _look(context, one, question.text, right[question.id], without)
            prompted = [Seen(prompt, False) for prompt in prompts]
            for seen in prompted:
                _look(context, seen, seen.name, set(), without)
    return asked, prompted


def look_at_talk(document: Sequence[Mapping[str, object]]) -> list[Seen]:
    """Ask every question of LoCoMo, each conversation in a palace of its own; adversarial ones have an answer too."""
    found: list[Seen] = []
    own = retrieval._ask_question

    @contextmanager
    def asking(palace: Path, embedder: Embedder) -> Iterator[Ask]:
        with _Scratch(palace, embedder) as context:

            def ask(question: str) -> Answer:
                told = _told(context, question, ())
                found.append(Seen(question, True, [evidence for evidence, _ in told]))
                drawer = context.reading().drawer
                hits = (SearchHit("", tuple(span.item for span in drawer(uid).spans)) for _, uid in told)
                return Answer(tuple(hits), 0.0)

            yield ask

    def keeping(case: Case, question: Asking, haystack: Haystack, ask: Ask, plain: Plain) -> QuestionResult:
        return own(case, question, haystack, lambda text: _kept(ask(text), found[-1], haystack, case, question), plain)

    retrieval._ask_question = keeping
    try:
        plan = retrieval.Plan(asking, lambda: open_embedder(EmbedderSpec(threads=2)), CACHE / "embeddings")
        retrieval.run(locomo.read(document), plan, lambda what, done, total: None)
    finally:
        retrieval._ask_question = own
    return [one for one in found if one.right]


def _kept(answer: Answer, seen: Seen, haystack: Haystack, case: Case, question: Asking) -> Answer:
    wanted = haystack.wanted_turns(case, question)
    if wanted:
        seen.right.extend(any(haystack.turn(item) in wanted for item in hit.items) for hit in answer.hits)
    return answer


def fit(asked: Sequence[Seen], names: Sequence[str]) -> NDArray[np.float64]:
    """Return the weights of the signals, and the intercept; signals that are not named have none, but `rank_gap`."""
    firsts = np.array([one.signals[0] for one in asked if one.signals])
    columns = [SIGNALS.index(name) for name in names]
    own, intercept = _logistic(firsts[:, columns], np.array([one.right[0] for one in asked if one.signals]))
    weights = np.zeros(len(SIGNALS) + 1)
    weights[columns], weights[-1] = own, intercept
    every = np.array([signals for one in asked for signals in one.signals])
    right = np.array([good for one in asked for good in one.right])
    rank_gap = SIGNALS.index("rank_gap")
    weights[rank_gap] = _slope(every[:, rank_gap], right, every @ weights[:-1] + intercept)
    return weights


def _logistic(values: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
    """Return weights and intercept."""
    middle, spread = values.mean(axis=0), values.std(axis=0) + 1e-9
    matrix = np.hstack([(values - middle) / spread, np.ones((len(values), 1))])
    ridge = np.diag([RIDGE] * values.shape[1] + [1e-6])
    weights = np.zeros(matrix.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-matrix @ weights))
        slope = matrix.T @ (chance - right) + ridge @ weights
        weights -= np.linalg.solve((matrix * (chance * (1 - chance))[:, None]).T @ matrix + ridge, slope)
    own = weights[:-1] / spread
    return own, float(weights[-1] - own @ middle)


def _slope(values: NDArray[np.float64], right: NDArray[np.bool_], offsets: NDArray[np.float64]) -> float:
    """Return the weight of one more signal where all others are as they are."""
    weight = 0.0
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-(offsets + weight * values)))
        bend = float((chance * (1 - chance) * values**2).sum()) + 1e-6
        weight -= float(np.clip(((chance - right) * values).sum() / bend, -1, 1))
    return weight


def unseen(asked: Sequence[Seen], prompted: Sequence[Seen], names: Sequence[str]) -> dict[str, list[float]]:
    """Return the scores of each part of the questions and prompts by weights fitted on the others."""
    part = {one.name: hashlib.sha256(one.name.encode()).digest()[1] % PARTS for one in (*asked, *prompted)}
    found: dict[str, list[float]] = {}
    for each in range(PARTS):
        weights = fit([one for one in asked if part[one.name] != each], names)
        found |= {one.name: chances_of(one, weights) for one in (*asked, *prompted) if part[one.name] == each}
    return found


def chances_of(one: Seen, weights: NDArray[np.float64]) -> list[float]:
    """Return the scores of the drawers under these weights."""
    return [float(1 / (1 + np.exp(-(np.array(signals) @ weights[:-1] + weights[-1])))) for signals in one.signals]


def floors(asked: Sequence[Seen], prompted: Sequence[Seen], chances: Mapping[str, list[float]]) -> list[Row]:
    """Return what each floor refuses and lets through; `right of what passes` counts hits among the five best."""
    best = {name: max(values, default=0.0) for name, values in chances.items()}
    rows: list[Row] = []
    for floor in FLOORS:
        passing = [
            good for one in asked for good, p in zip(one.right[:5], chances[one.name][:5], strict=True) if p >= floor
        ]
        rows.append(
            {
                "floor": floor,
                "unanswerable refused, %": _share([best[one.name] < floor for one in asked if not one.answerable]),
                "answerable refused, %": _share([best[one.name] < floor for one in asked if one.answerable]),
                "of it answered by the five best": _share(
                    [best[one.name] < floor and any(one.right[:5]) for one in asked if one.answerable]
                ),
                "prompts that pass, %": _share([best[one.name] >= floor for one in prompted]),
                "passing": len(passing),
                "right of what passes, %": _share(passing),
            }
        )
    return rows


def _look(context: Context, seen: Seen, question: str, right: set[str], without: tuple[str, ...]) -> None:
    """Search, and keep what the score was told of each hit."""
    for evidence, uid in _told(context, question, without):
        seen.signals.append(evidence)
        seen.right.append(uid in right)


def _told(context: Context, question: str, without: tuple[str, ...]) -> list[tuple[score.Evidence, str]]:
    told: list[score.Evidence] = []
    own = score.relevance

    def recording(evidence: score.Evidence, scale: score.Scale) -> float:
        told.append(evidence)
        return len(told)

    score.relevance = recording
    try:
        found = search(context, SearchRequest(question, limit=BEST, budget=PLENTY, drawers=True, without=without))
    finally:
        score.relevance = own
    return [(told[int(hit.score) - 1], hit.id) for hit in found.hits]


def _named(without: tuple[str, ...]) -> str:
    return "by keyword alone" if without else "with vectors"


def _share(values: Sequence[bool]) -> float | None:
    return round(100 * sum(values) / len(values), 1) if values else None


if __name__ == "__main__":
    sys.exit(main())
