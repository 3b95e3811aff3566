"""Fit the weights of the ranking's signals on LoCoMo, by leaving one conversation out, and say what each is worth.

    python benchmarks/fit_ranking.py LOCOMO.json [--session-share 0.3] [--without-each] [--json]

Every question is asked through the real search; the signals of each drawer that was looked at are kept. The weights
minimise the cross-entropy of a softmax over those drawers, part of it over their sessions, with a little L2; no
chance plays a part. Figures are of conversations that the weights have not seen; the last row is fitted on all.
`WEIGHTS` in `recall/rank.py` began from these and were rounded between them and what the dev half of the coding
suite prefers, which is why they differ.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import CACHE, Row, report

from palazzo.archive.reading import read_drawer
from palazzo.bench import locomo, retrieval
from palazzo.bench.cases import Case, Question
from palazzo.bench.haystack import Haystack
from palazzo.bench.measures import mean, measure
from palazzo.bench.plain import Plain
from palazzo.bench.retrieval import Answer, Ask, Asked, Found
from palazzo.embed import Embedder
from palazzo.embed.choose import EmbedderSpec, open_embedder
from palazzo.operations.scratch_search import _Scratch
from palazzo.operations.search import SearchRequest, search
from palazzo.recall import rank

NAMES = rank.Signals._fields
STEPS, RATE, L2, SHARPNESS = 250, 0.05, 1e-3, 4.0


@dataclass(slots=True)
class Recorded:
    """What was looked at for one question: signals by row, and each row's items and session as hits."""

    signals: list[tuple[float, ...]] = field(default_factory=list)
    hits: list[Found] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Example:
    """A question: signals (rows, names), the turns and the session of each row, and what answers."""

    case: str
    signals: NDArray[np.float64]
    turns: tuple[tuple[str, ...], ...]
    sessions: tuple[str, ...]
    wanted_turns: frozenset[str]
    wanted_sessions: frozenset[str]


class Recording:
    """Asks as the benchmark does, and answers with every drawer that was looked at."""

    def __init__(self) -> None:
        self.found: list[Recorded] = []

    @contextmanager
    def __call__(self, palace: Path, embedder: Embedder) -> Iterator[Ask]:
        """Open the palace to be searched."""
        with _Scratch(palace, embedder) as context:

            def ask(question: str) -> Answer:
                ranked = _looked_at(lambda: search(context, SearchRequest(question, limit=1)))
                kept = Recorded()
                with context.reading().database.snapshot() as connection:
                    for one in ranked:
                        drawer = read_drawer(connection, one.candidate.row)
                        kept.signals.append(one.signals)
                        items = tuple(span.item for span in drawer.spans)
                        kept.hits.append(Found(drawer.source.session_id, items))
                self.found.append(kept)
                return Answer(tuple(kept.hits), 0.0)

            yield ask


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, and print a row for each way of fitting."""
    parser = argparse.ArgumentParser(description="Fit the weights of the ranking's signals.")
    parser.add_argument("file", type=Path, help="LoCoMo, or as many of its conversations as there are")
    parser.add_argument("--session-share", type=float, default=0.3)
    parser.add_argument("--without-each", action="store_true", help="also fit without each signal")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    examples = record(json.loads(given.file.read_bytes()))
    rows = [held_out("all signals", examples, given.session_share)]
    if given.without_each:
        rows += [held_out(f"without {name}", examples, given.session_share, name) for name in NAMES]
    report("Ranking, each conversation by weights of the others, in percent", rows, given.json)
    weights = fit(examples, given.session_share)
    told: list[Row] = [
        {"signal": name, "fitted": round(float(value), 2), "in use": getattr(rank.WEIGHTS, name)}
        for name, value in zip(NAMES, weights, strict=True)
    ]
    report("Weights", told, given.json)
    return 0


def record(document: Sequence[Mapping[str, object]]) -> list[Example]:
    """Ask every question of the data set and keep what was looked at."""
    recording = Recording()
    examples: list[Example] = []
    own = retrieval._asked

    def keeping(case: Case, question: Question, haystack: Haystack, ask: Ask, plain: Plain) -> Asked:
        asked = own(case, question, haystack, ask, plain)
        kept = recording.found[-1]
        if asked.turns:
            turns = tuple(tuple(haystack.turn(item) for item in hit.items) for hit in kept.hits)
            sessions = tuple(haystack.session(hit.session) for hit in kept.hits)
            examples.append(Example(case.id, np.array(kept.signals), turns, sessions, asked.turns, asked.sessions))
        return asked

    retrieval._asked = keeping
    try:
        plan = retrieval.Plan(recording, lambda: open_embedder(EmbedderSpec(threads=2)), CACHE / "embeddings")
        retrieval.run(locomo.read(document), plan, lambda what, done, total: None)
    finally:
        retrieval._asked = own
    return examples


def fit(examples: Sequence[Example], session_share: float, without: str = "") -> NDArray[np.float64]:
    """Return the weights, by Adam from nothing; the loss is convex."""
    columns = np.array([name != without for name in NAMES], dtype=float)
    weights, first, second = (np.zeros(len(NAMES)) for _ in range(3))
    for step in range(1, STEPS + 1):
        gradient = L2 * weights * len(examples)
        for one in examples:
            gradient += _gradient(one, weights, session_share)
        gradient *= columns / len(examples)
        first, second = 0.9 * first + 0.1 * gradient, 0.99 * second + 0.01 * gradient**2
        weights -= RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights


def _gradient(one: Example, weights: NDArray[np.float64], session_share: float) -> NDArray[np.float64]:
    scores = one.signals @ weights * SHARPNESS
    chance = np.exp(scores - scores.max())
    chance /= chance.sum()
    expected = chance @ one.signals
    found = np.zeros(len(weights))
    right = [n for n, turns in enumerate(one.turns) if one.wanted_turns.intersection(turns)]
    if right:
        found += (1 - session_share) * SHARPNESS * (expected - one.signals[right].mean(axis=0))
    reached = one.wanted_sessions.intersection(one.sessions)
    for session in reached:
        inside = np.array([own == session for own in one.sessions])
        share = chance[inside] / chance[inside].sum()
        found += session_share * SHARPNESS * (expected - share @ one.signals[inside]) / len(reached)
    return found


def held_out(name: str, examples: Sequence[Example], session_share: float, without: str = "") -> Row:
    """Return the measures of each conversation under weights fitted on the others."""
    turns, sessions = [], []
    for case in dict.fromkeys(one.case for one in examples):
        weights = fit([one for one in examples if one.case != case], session_share, without)
        for one in examples:
            if one.case == case:
                order = np.argsort(-(one.signals @ weights), kind="stable")
                ranked = list(dict.fromkeys(turn for n in order for turn in one.turns[n]))
                turns.append(measure(ranked, one.wanted_turns))
                sessions.append(measure(list(dict.fromkeys(one.sessions[n] for n in order)), one.wanted_sessions))
    by_turn, by_session = mean(turns), mean(sessions)
    return {
        "signals": name,
        "turn recall@10": by_turn["recall@10"],
        "turn any@10": by_turn["any@10"],
        "turn ndcg@10": by_turn["ndcg@10"],
        "session recall@5": by_session["recall@5"],
        "session recall@10": by_session["recall@10"],
    }


def _looked_at(asking: object) -> list[rank.Ranked]:
    """Run a search and return what its ranking stage looked at, in its order."""
    found: list[rank.Ranked] = []
    own = rank.rank

    def recording(*arguments: object) -> list[rank.Ranked]:
        ranked = own(*arguments)  # type: ignore[arg-type]
        seen = set(arguments[2].rows)  # type: ignore[attr-defined]
        found.extend(one for one in ranked if one.candidate.row in seen)
        return ranked

    rank.rank = recording  # type: ignore[assignment]
    try:
        asking()  # type: ignore[operator]
    finally:
        rank.rank = own
    return found


if __name__ == "__main__":
    sys.exit(main())
