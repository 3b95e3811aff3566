"""Measure what verdicts on memories are worth, by the weight with which they count.

    python benchmarks/feedback.py [--distractors 0] [--weights 0.25,0.5,1.0] [--rounds 3] [--json]

No real verdicts are available, so these are synthesised from the dev half of the coding suite. Half of the questions,
by lot, were asked before, and an agent judged one of their hits; measured are these questions (`judged`) and the other
half (`others`: what they lose to drawers that were judged). Then the halves change places.

- `helpful`: one drawer that answers was called helpful.
- `misleading`: the first hit that does not answer was called misleading.
- `by lot`: the first hit was called helpful or misleading by a coin, right or not: an agent that judges at random.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.coding.distractors import remembering
from benchmarks.coding.filing import DEPTH, file_corpus, right_drawers
from benchmarks.coding.questions import Question, read_questions
from benchmarks.measuring import Row, report

from palazzo.archive import acts, archive_reader
from palazzo.bench.measures import mean, measure
from palazzo.index import ranking
from palazzo.index.query import Query
from palazzo.palace import Palace

PLENTY = 1_000_000
SHOWN = ("any@1", "any@5", "mrr")
Answers = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Suite:
    """The palace, the answerable questions of the dev half, and the drawers that answer each."""

    palace: Palace
    questions: tuple[Question, ...]
    right: Mapping[str, frozenset[str]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask all questions and print a row for each kind of verdict, half of the questions and weight."""
    parser = argparse.ArgumentParser(description="Measure what verdicts on memories are worth.")
    parser.add_argument("--distractors", type=int, default=0)
    parser.add_argument("--weights", default="0.25,0.5,1.0")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    embedder = remembering()
    with tempfile.TemporaryDirectory(prefix="palazzo-feedback-") as scratch:
        file = file_corpus(Path(scratch), given.distractors, embedder)
        with Palace.open(file, embedder=lambda: embedder) as palace:
            suite = read_suite(palace)
            rows = list(measure_all(suite, [float(weight) for weight in given.weights.split(",")], given.rounds))
    report(f"Feedback: {len(suite.questions)} questions of the dev half", rows, as_json=given.json)
    return 0


def read_suite(palace: Palace) -> Suite:
    """Return the questions that a drawer answers."""
    with palace.database.snapshot() as connection:
        questions = [question for question in read_questions() if question.split == "dev"]
        right = right_drawers(connection, questions)
    known = tuple(question for question in questions if right[question.id])
    return Suite(palace, known, {name: frozenset(uids) for name, uids in right.items()})


def measure_all(suite: Suite, weights: Sequence[float], rounds: int) -> Iterator[Row]:
    """Yield a row without verdicts, and one for each kind of verdict, half and weight."""
    hits = {question.id: ask(suite, question) for question in suite.questions}
    yield format_row(
        "none", "all", 0.0, [measure(hits[question.id], suite.right[question.id]) for question in suite.questions]
    )
    for weight in weights:
        with weighing(weight):
            for name, choose in CHOICES.items():
                measured: dict[str, list[dict[str, float]]] = {"judged": [], "others": []}
                for seed in range(rounds):
                    measure_round(suite, hits, choose, random.Random(seed), measured)
                for half, values in measured.items():
                    yield format_row(name, half, weight, values)


Choice = Callable[[Suite, Question, Answers, random.Random], tuple[str, str] | None]


def measure_round(
    suite: Suite, hits: Answers, choose: Choice, chance: random.Random, measured: dict[str, list[dict[str, float]]]
) -> None:
    """Judge for each half of the questions in turn, and measure both halves."""
    shuffled = chance.sample(suite.questions, len(suite.questions))
    halves = shuffled[::2], shuffled[1::2]
    for judged, others in (halves, halves[::-1]):
        with judging(suite.palace, [choose(suite, question, hits, chance) for question in judged]):
            for half, questions in (("judged", judged), ("others", others)):
                measured[half] += [measure(ask(suite, question), suite.right[question.id]) for question in questions]


def choose_helpful(suite: Suite, question: Question, hits: Answers, chance: random.Random) -> tuple[str, str] | None:
    """Return a drawer that answers."""
    return chance.choice(sorted(suite.right[question.id])), "helpful"


def choose_misleading(suite: Suite, question: Question, hits: Answers, chance: random.Random) -> tuple[str, str] | None:
    """Return the first hit that does not answer, if it is among the first five."""
    wrong = (uid for uid in hits[question.id][:5] if uid not in suite.right[question.id])
    first = next(wrong, None)
    return None if first is None else (first, "misleading")


def choose_by_lot(suite: Suite, question: Question, hits: Answers, chance: random.Random) -> tuple[str, str] | None:
    """Return the first hit, with a verdict by lot."""
    return (hits[question.id][0], chance.choice(("helpful", "misleading"))) if hits[question.id] else None


CHOICES: Mapping[str, Choice] = {
    "helpful": choose_helpful,
    "misleading": choose_misleading,
    "by lot": choose_by_lot,
}


@contextmanager
def judging(palace: Palace, verdicts: Sequence[tuple[str, str] | None]) -> Iterator[None]:
    """Keep verdicts of an agent in the palace for a while."""
    with palace.database.transaction() as connection:
        for uid, verdict in filter(None, verdicts):
            row = archive_reader.resolve_drawer(connection, uid)
            acts.act_on_drawers(connection, "feedback", [row], "made-up", palace.clock(), {"verdict": verdict})
    try:
        yield
    finally:
        with palace.database.transaction() as connection:
            judged = "(SELECT id FROM act WHERE kind = 'feedback')"
            connection.execute(f"DELETE FROM act_span WHERE act IN {judged}")
            connection.execute("DELETE FROM act WHERE kind = 'feedback'")


@contextmanager
def weighing(weight: float) -> Iterator[None]:
    """Let verdicts weigh that much for a while."""
    before = ranking.TALK, ranking.WORK, ranking.PAGE
    ranking.TALK, ranking.WORK, ranking.PAGE = (weights._replace(feedback=weight) for weights in before)
    try:
        yield
    finally:
        ranking.TALK, ranking.WORK, ranking.PAGE = before


def ask(suite: Suite, question: Question) -> list[str]:
    """Return the drawers that a question finds, best first."""
    answer = suite.palace.search(Query(question.text, limit=DEPTH, budget=PLENTY))
    return [hit.drawer.id for hit in answer.hits]


def format_row(verdict: str, half: str, weight: float, measured: Sequence[dict[str, float]]) -> Row:
    """Return the means of some questions as a row."""
    means = mean(measured)
    figures = {name: round(means.get(name) or 0.0, 1) for name in SHOWN}
    return {"verdict": verdict, "questions": half, "weight": weight, "asked": len(measured), **figures}


if __name__ == "__main__":
    raise SystemExit(main())
