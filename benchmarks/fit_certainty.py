"""Fit the certainty of an answer on the dev questions, and draw what each floor loses and refuses.

    python benchmarks/fit_certainty.py [--distractors 3000] [--without tokens] [--plot certainty.svg] [--json]

Each question with an answer is asked from nowhere and from its project; the evidence of an answer is right where one of
the five best drawers is. Questions without an answer are those that nobody answered, and, since they are few, every
other question asked of a palace without the sources that answer it (from its project), and without their project (from
nowhere): synthetic negatives. A logistic regression (L2 on standardised evidence). Answers that missed do not count in
the fit. What floors do is said of each sixth of the questions by weights of the others, with 95 % intervals over
questions.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.coding.distractors import remembering
from benchmarks.coding.filing import file_corpus, right_drawers
from benchmarks.coding.questions import Question, read_dev_questions
from benchmarks.coding_suite import PLENTY, Surroundings
from benchmarks.fit_score import _logistic
from benchmarks.measuring import Row, report
from benchmarks.operating_points import Curve, draw

from palazzo.index import certainty
from palazzo.index.certainty import AnswerEvidence
from palazzo.index.presentation import Hit
from palazzo.index.query import Query
from palazzo.palace import Palace
from palazzo.store.database import Connection

KINDS = ("nobody said", "without its sources", "without its project")
LOSSES = (0.01, 0.02, 0.05, 0.08, 0.10, 0.15)
BEST, PARTS, SAMPLES = 5, 6, 2_000


@dataclass(frozen=True, slots=True)
class Judged:
    """The evidence of one answer; `kind` is `right`, `missed` or one of `KINDS`."""

    question: str
    kind: str
    evidence: AnswerEvidence


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, and print the weights and what the floors do."""
    parser = argparse.ArgumentParser(description="Fit the certainty of an answer.")
    parser.add_argument("--distractors", type=int, default=3_000)
    parser.add_argument("--without", choices=("tokens",), help="fit the certainty of searches without tokens")
    parser.add_argument("--plot", type=Path, help="the SVG file to write")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    by_tokens = given.without is None
    judged = judge(read_dev_questions(), given.distractors, by_tokens)
    used = certainty.BY_TOKENS if by_tokens else certainty.BY_VECTORS
    weights = fit(judged)
    rows: list[Row] = [
        {"weight": name, "fitted": round(float(value), 2), "in use": own}
        for name, value, own in zip(
            (*AnswerEvidence._fields, "intercept"), weights, (*used.weights, used.intercept), strict=True
        )
    ]
    report("The certainty of an answer", rows, given.json)
    chances = unseen(judged)
    report("Uncertain, % of answers, by weights of other questions", operating_points(judged, chances), given.json)
    own_chances = np.array([certainty.answer_certainty(one.evidence, used) for one in judged])
    report(f"In use: floor {used.floor}", [shares_below(judged, own_chances, used.floor)], given.json)
    if given.plot:
        chosen = 100 * shares(judged, own_chances, "right", used.floor)
        draw(given.plot, [curve(kind, judged, chances) for kind in KINDS], chosen)
    return 0


def judge(questions: Sequence[Question], distractors: int, by_tokens: bool) -> list[Judged]:
    """Ask every question in each way."""
    embedder = remembering()
    with (
        tempfile.TemporaryDirectory(prefix="palazzo-certainty-") as scratch,
        Surroundings(file_corpus(Path(scratch), distractors, embedder), embedder) as context,
    ):
        palace = context.reading()
        with palace.database.snapshot() as connection:
            right = right_drawers(connection, questions)
            places = read_places(connection)
        palace.search(Query(questions[0].text))  # it loads the vectors
        return [each for one in questions for each in ask(palace, one, right[one.id], places, by_tokens)]


@dataclass(frozen=True, slots=True)
class Placed:
    """A drawer's id, source and wing."""

    uid: str
    source: int
    wing: str


def read_places(connection: Connection) -> dict[int, Placed]:
    """Return where every live drawer is, by row."""
    rows = connection.execute(
        "SELECT drawer.id, drawer.uid, source, wing.name FROM drawer JOIN room ON room.id = drawer.room"
        " JOIN wing ON wing.id = room.wing WHERE retired_at IS NULL"
    )
    return {int(row): Placed(bytes(uid).hex(), int(source), str(wing)) for row, uid, source, wing in rows}


def ask(
    palace: Palace, question: Question, right: Iterable[str], places: dict[int, Placed], by_tokens: bool
) -> Iterator[Judged]:
    """Ask a question as it is, and without what answers it."""
    answering = [place for place in places.values() if place.uid in set(right)]
    if not answering:
        yield from _ask(palace, question, KINDS[0], None, None, by_tokens)
        return
    home, sources, wings = answering[0].wing, {p.source for p in answering}, {p.wing for p in answering}
    uids = {place.uid for place in answering}
    for wing in (None, home):
        for judged, hits in _asked(palace, question, wing, None, by_tokens):
            is_right = any(hit.drawer.id in uids for hit in hits[:BEST])
            yield Judged(question.id, "right" if is_right else "missed", judged)
    others = frozenset(row for row, place in places.items() if place.source not in sources)
    yield from _ask(palace, question, KINDS[1], home, others, by_tokens)
    elsewhere = frozenset(row for row, place in places.items() if place.wing not in wings)
    yield from _ask(palace, question, KINDS[2], None, elsewhere, by_tokens)


def _ask(
    palace: Palace, question: Question, kind: str, home: str | None, among: frozenset[int] | None, by_tokens: bool
) -> Iterator[Judged]:
    for evidence, _ in _asked(palace, question, home, among, by_tokens):
        yield Judged(question.id, kind, evidence)


def _asked(
    palace: Palace, question: Question, home: str | None, among: frozenset[int] | None, by_tokens: bool
) -> Iterator[tuple[AnswerEvidence, list[Hit]]]:
    """Yield the evidence and the hits; nothing if the answer had no evidence."""
    query = Query(question.text, limit=BEST, budget=PLENTY, home=home, among=among, rerank=by_tokens)
    with gathered() as seen:
        hits = palace.search(query).hits
    if seen:
        yield seen[-1], hits


@contextmanager
def gathered() -> Iterator[list[AnswerEvidence]]:
    """Record the evidence of answers."""
    seen: list[AnswerEvidence] = []
    own = certainty.gather_evidence

    def recording(*arguments: object) -> AnswerEvidence:
        evidence = own(*arguments)  # type: ignore[arg-type]
        seen.append(evidence)
        return evidence

    certainty.gather_evidence = recording  # type: ignore[assignment]
    try:
        yield seen
    finally:
        certainty.gather_evidence = own


def fit(judged: Sequence[Judged]) -> NDArray[np.float64]:
    """Return the weights and the intercept."""
    used = [one for one in judged if one.kind != "missed"]
    own, intercept = _logistic(
        np.array([one.evidence for one in used]), np.array([one.kind == "right" for one in used], dtype=bool)
    )
    return np.array([*own, intercept])


def unseen(judged: Sequence[Judged]) -> NDArray[np.float64]:
    """Return the certainty of each answer by weights that were fitted on the other sixths of the questions."""
    part = np.array([hashlib.sha256(one.question.encode()).digest()[1] % PARTS for one in judged])
    evidence = np.array([one.evidence for one in judged])
    chances = np.zeros(len(judged))
    for sixth in range(PARTS):
        weights = fit([one for one, own in zip(judged, part, strict=True) if own != sixth])
        inside = part == sixth
        chances[inside] = 1 / (1 + np.exp(-(evidence[inside] @ weights[:-1] + weights[-1])))
    return chances


def shares(judged: Sequence[Judged], chances: NDArray[np.float64], kind: str, floor: float) -> float:
    """Return the share of a kind's answers that are below the floor, 0 to 1."""
    return float(np.mean([chance < floor for one, chance in zip(judged, chances, strict=True) if one.kind == kind]))


def shares_below(judged: Sequence[Judged], chances: NDArray[np.float64], floor: float) -> Row:
    """Return the percentages of each kind below a floor."""
    return {kind: round(100 * shares(judged, chances, kind, floor), 1) for kind in ("right", *KINDS)}


def operating_points(judged: Sequence[Judged], chances: NDArray[np.float64]) -> list[Row]:
    """Return, for each loss of right answers, the floor and what it refuses, with 95 % intervals."""
    right = np.array([chance for one, chance in zip(judged, chances, strict=True) if one.kind == "right"])
    rows: list[Row] = []
    for loss in LOSSES:
        floor = float(np.quantile(right, loss))
        row: Row = {"right answers lost, %": round(100 * loss), "floor": round(floor, 3)}
        for kind in KINDS:
            below = np.array([c < floor for one, c in zip(judged, chances, strict=True) if one.kind == kind])
            samples = np.random.default_rng(0).integers(0, len(below), (SAMPLES, len(below)))
            low, high = np.percentile(below[samples].mean(axis=1), [2.5, 97.5]) * 100
            row[f"{kind} ({len(below)})"] = f"{100 * below.mean():.0f} ({low:.0f}–{high:.0f})"
        rows.append(row)
    return rows


def curve(kind: str, judged: Sequence[Judged], chances: NDArray[np.float64]) -> Curve:
    """Return the refusal of a kind, in percent, at each loss of right answers."""
    right = np.array([chance for one, chance in zip(judged, chances, strict=True) if one.kind == "right"])
    losses = np.arange(0, 0.305, 0.01)
    return Curve(
        kind, [(100 * loss, 100 * shares(judged, chances, kind, float(np.quantile(right, loss)))) for loss in losses]
    )


if __name__ == "__main__":
    sys.exit(main())
