"""Fit the weights of the ranking's signals, and say what each is worth on questions that the weights have not seen.

    python benchmarks/fit_ranking.py LOCOMO.json [--distractors 20000] [--rerank off] [--without-each] [--work-alone]

Every question is asked through the real search; the signals of each drawer that was looked at are kept. The weights
minimise the cross-entropy of a softmax over those drawers; no chance plays a part.

The weights of `index/reranking.py` are fitted: the best candidates are compared with the question token by token. With
`--rerank off`, those of `index/ranking.py`.

`TALK`, by which messages between people are ranked, is fitted on LoCoMo, part of the loss over sessions, with a little
L2; figures are of each conversation by weights of the others. Those of `index/ranking.py` were rounded between what was
fitted and what sessions prefer (`timed` has half). `WORK`, for everything else, is fitted on the coding suite's dev
half, drawn towards `TALK`, since its questions are few; figures are of each fifth of it by weights of the others, three
times over with other fifths. The intervals are of 2,000 samples of the questions. Asked from the project, the same
weights are used with the weight of `home` that is set by hand.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.coding.distractors import remembering
from benchmarks.coding.filing import file_corpus, right_drawers
from benchmarks.coding.questions import read_dev_questions
from benchmarks.coding_suite import Surroundings, palace_wing
from benchmarks.measuring import CACHE, Row, report

from palazzo.archive.archive_reader import read_drawer
from palazzo.bench import locomo, retrieval
from palazzo.bench.baselines import Plain
from palazzo.bench.cases import Case, Question
from palazzo.bench.haystack import Haystack
from palazzo.bench.measures import margin, mean, measure
from palazzo.bench.retrieval import Answer, Ask, QuestionResult, SearchHit
from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.scratch_search import _Scratch
from palazzo.features.search.search import search
from palazzo.index import ranking, reranking
from palazzo.index.embedder import Embedder
from palazzo.index.embedder_choice import EmbedderSpec, open_embedder
from palazzo.index.signals import Signals

NAMES = Signals._fields
STEPS, RATE, L2, SHARPNESS = 250, 0.05, 1e-3, 4.0
PULL = 0.2
"""How strongly the weights of work are drawn towards `TALK`: the most that costs nothing (0.05 to 0.2 are alike, 0.5 is
worse), since there are 183 questions."""
LEAST = {"words": 0.1, "vector": 0.0}
"""Bounds of weights: beside tokens both would be fitted below zero, so that a drawer would count less because it has a
word or a near vector."""
SAMPLES = 2_000
OF_WORK_ALONE = frozenset({"place", "home", "tool", "document", "held", "follows", "command", "latest"})
"""Signals that are nothing, or the same everywhere, in a conversation between people, or gain nothing there."""
ROUNDS, FIFTHS = 3, 5
TOLD = {"turn": ("recall@10", "any@10", "ndcg@10"), "session": ("recall@5", "recall@10")}
"""What is shown of each level, each with half the width of its 95 % interval over questions."""


@dataclass(slots=True)
class Recorded:
    """What was looked at for one question: signals by row, and each row's items and session as hits."""

    signals: list[tuple[float, ...]] = field(default_factory=list)
    hits: list[SearchHit] = field(default_factory=list)


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

    def __init__(self, without: tuple[str, ...]) -> None:
        self.found: list[Recorded] = []
        self._without = without

    @contextmanager
    def __call__(self, palace: Path, embedder: Embedder) -> Iterator[Ask]:
        """Open the palace to be searched."""
        with _Scratch(palace, embedder) as context:

            def ask(question: str) -> Answer:
                ranked = _looked_at(lambda: search(context, SearchRequest(question, limit=1, without=self._without)))
                kept = Recorded()
                with context.reading().database.snapshot() as connection:
                    for one in ranked:
                        drawer = read_drawer(connection, one.candidate.row)
                        kept.signals.append(one.signals)
                        items = tuple(span.item for span in drawer.spans)
                        kept.hits.append(SearchHit(drawer.source.session_id, items))
                self.found.append(kept)
                return Answer(tuple(kept.hits), 0.0)

            yield ask


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, and print a row for each way of fitting."""
    parser = argparse.ArgumentParser(description="Fit the weights of the ranking's signals.")
    parser.add_argument("file", type=Path, help="LoCoMo, or as many of its conversations as there are")
    parser.add_argument("--session-share", type=float, default=0.3)
    parser.add_argument("--distractors", type=int, default=20_000, help="foreign drawers of the coding suite")
    parser.add_argument("--rerank", choices=("tokens", "off"), default="tokens", help="which weights to fit")
    parser.add_argument("--without-each", action="store_true", help="also fit without each signal")
    parser.add_argument("--work-alone", action="store_true", help="leave talk as it is, which takes the longest")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    by_tokens = given.rerank == "tokens"
    used_talk, used_work = (
        (reranking.TALK_BY_TOKENS, reranking.WORK_BY_TOKENS) if by_tokens else (ranking.TALK, ranking.WORK)
    )
    talk = np.array(used_talk)
    fitted = talk if given.work_alone else fit_talk(given)
    tasks = record_tasks(given.distractors, _stages(given))
    rows = [held_out_tasks("all signals", tasks, talk)]
    if given.without_each:
        rows += [held_out_tasks(f"without {name}", tasks, talk, name) for name in NAMES]
    report("Work: ranking, each fifth of the dev half by weights of the others, in percent", rows, given.json)
    work = fit_tasks(tasks, talk)
    told: list[Row] = [
        {
            "signal": name,
            "talk, fitted": round(float(fitted[n]), 2),
            "in use": getattr(used_talk, name),
            "work, fitted": round(float(work[n]), 2),
            "in use ": getattr(used_work, name),
        }
        for n, name in enumerate(NAMES)
    ]
    report("Weights", told, given.json)
    return 0


def _stages(given: argparse.Namespace) -> tuple[str, ...]:
    """Return the stages to leave out."""
    return () if given.rerank == "tokens" else ("tokens",)


def fit_talk(given: argparse.Namespace) -> NDArray[np.float64]:
    """Return the weights of talk, having told what they are worth."""
    examples = record(json.loads(given.file.read_bytes()), _stages(given))
    rows = [held_out("all signals", examples, given.session_share)]
    if given.without_each:
        used = [name for name in NAMES if name not in OF_WORK_ALONE]
        rows += [held_out(f"without {name}", examples, given.session_share, name) for name in used]
    report("Talk: ranking, each conversation by weights of the others, in percent", rows, given.json)
    return fit(examples, given.session_share)


@dataclass(frozen=True, slots=True)
class Task:
    """A question of the coding suite: signals (rows, names), and which of the rows answer; asked from nowhere, and from
    its project.
    """

    id: str
    signals: NDArray[np.float64]
    right: NDArray[np.bool_]
    signals_at_home: NDArray[np.float64]
    right_at_home: NDArray[np.bool_]


def record_tasks(distractors: int, without: tuple[str, ...]) -> list[Task]:
    """Ask the dev half of the coding suite and keep what was looked at."""
    questions = [one for one in read_dev_questions() if one.golds]
    tasks = []
    with tempfile.TemporaryDirectory(prefix="palazzo-ranking-") as scratch:
        embedder = remembering()
        with Surroundings(file_corpus(Path(scratch), distractors, embedder), embedder) as context:
            with context.reading().database.snapshot() as connection:
                right = right_drawers(connection, questions)
                uids = {row: bytes(uid).hex() for row, uid in connection.execute("SELECT id, uid FROM drawer")}
            for one in questions:
                request = SearchRequest(one.text, limit=1, without=without)
                looked_at = []
                for wing in (None, palace_wing(context, right[one.id])):
                    context.at = wing
                    looked_at.append(_looked_at(partial(search, context, request)))
                signals, at_home = (np.array([each.signals for each in ranked]) for ranked in looked_at)
                answers, answers_at_home = (
                    np.array([uids[each.candidate.row] in right[one.id] for each in ranked]) for ranked in looked_at
                )
                tasks.append(Task(one.id, signals, answers, at_home, answers_at_home))
    return tasks


def fit_tasks(tasks: Sequence[Task], talk: NDArray[np.float64], without: str = "") -> NDArray[np.float64]:
    """Return the weights of work, drawn towards those of talk: any right drawer is as good as another."""

    def slope(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.zeros(len(weights))
        for one in tasks:
            if one.right.any():
                chance = _chances(one.signals, weights)
                hit = chance * one.right
                found += SHARPNESS * (chance - hit / max(hit.sum(), 1e-12)) @ one.signals
        return PULL * (weights - talk) + found / len(tasks)

    return _descend(slope, talk, _columns(without))


def held_out_tasks(name: str, tasks: Sequence[Task], talk: NDArray[np.float64], without: str = "") -> Row:
    """Return the measures of each fifth of the tasks under weights fitted on the others."""
    ranks: list[float] = []
    ranks_at_home: list[float] = []
    losses: list[float] = []
    for turn in range(ROUNDS):
        part = {one.id: hashlib.sha256(f"{turn}{one.id}".encode()).digest()[0] % FIFTHS for one in tasks}
        for fifth in range(FIFTHS):
            weights = fit_tasks([one for one in tasks if part[one.id] != fifth], talk, without)
            for one in (one for one in tasks if part[one.id] == fifth):
                ranks.append(_rank(one.signals, one.right, weights))
                ranks_at_home.append(_rank(one.signals_at_home, one.right_at_home, weights))
                if one.right.any():
                    losses.append(-math.log(max(_chances(one.signals, weights)[one.right].sum(), 1e-9)))
    told = {f"any@{k}": _share([place <= k for place in ranks], tasks) for k in (1, 5, 10)}
    told |= {f"project any@{k}": _share([place <= k for place in ranks_at_home], tasks) for k in (1, 5, 10)}
    mrr = round(100 * sum(1 / place for place in ranks) / len(ranks), 1)
    return {"signals": name, **told, "mrr": mrr, "cross-entropy": round(sum(losses) / len(losses), 3)}


def _rank(signals: NDArray[np.float64], right: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    """Return the place of the first row that answers, from 1."""
    places = np.flatnonzero(right[np.argsort(-(signals @ weights), kind="stable")])
    return float(places[0]) + 1 if len(places) else math.inf


def _share(good: Sequence[bool], tasks: Sequence[Task]) -> str:
    """Return the percentage with its 95 % interval over questions; each round has all of them, in another order."""
    values = np.array(good, dtype=float)
    samples = np.random.default_rng(0).integers(0, len(values), (SAMPLES, len(tasks)))
    low, high = np.percentile(values[samples].mean(axis=1), [2.5, 97.5]) * 100
    return f"{100 * values.mean():.1f} ({low:.0f}–{high:.0f})"


def _chances(signals: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    scores = signals @ weights * SHARPNESS
    chance: NDArray[np.float64] = np.exp(scores - scores.max())
    chance /= chance.sum()
    return chance


def _columns(without: str) -> NDArray[np.float64]:
    return np.array([name != without for name in NAMES], dtype=float)


def _descend(
    slope: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    start: NDArray[np.float64],
    columns: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Follow a convex loss down by Adam, inside the bounds; columns that are nothing stay so."""
    least = np.array([LEAST.get(name, -np.inf) for name in NAMES])
    weights = start * columns
    first, second = np.zeros(len(NAMES)), np.zeros(len(NAMES))
    for step in range(1, STEPS + 1):
        gradient = slope(weights) * columns
        first, second = 0.9 * first + 0.1 * gradient, 0.99 * second + 0.01 * gradient**2
        weights = weights - RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
        weights = np.maximum(weights, least) * columns
    return weights


def record(document: Sequence[Mapping[str, object]], without: tuple[str, ...]) -> list[Example]:
    """Ask every question of the data set and keep what was looked at."""
    recording = Recording(without)
    examples: list[Example] = []
    own = retrieval._ask_question

    def keeping(case: Case, question: Question, haystack: Haystack, ask: Ask, plain: Plain) -> QuestionResult:
        asked = own(case, question, haystack, ask, plain)
        kept = recording.found[-1]
        if asked.turns:
            turns = tuple(tuple(haystack.turn(item) for item in hit.items) for hit in kept.hits)
            sessions = tuple(haystack.session(hit.session) for hit in kept.hits)
            examples.append(Example(case.id, np.array(kept.signals), turns, sessions, asked.turns, asked.sessions))
        return asked

    retrieval._ask_question = keeping
    try:
        plan = retrieval.Plan(recording, lambda: open_embedder(EmbedderSpec(threads=2)), CACHE / "embeddings")
        retrieval.run(locomo.read(document), plan, lambda what, done, total: None)
    finally:
        retrieval._ask_question = own
    return examples


def fit(examples: Sequence[Example], session_share: float, without: str = "") -> NDArray[np.float64]:
    """Return the weights of talk."""
    columns = _columns(without) * np.array([name not in OF_WORK_ALONE for name in NAMES])

    def slope(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        found = sum((_gradient(one, weights, session_share) for one in examples), np.zeros(len(weights)))
        return L2 * weights + found / len(examples)

    return _descend(slope, np.zeros(len(NAMES)), columns)


def _gradient(one: Example, weights: NDArray[np.float64], session_share: float) -> NDArray[np.float64]:
    chance = _chances(one.signals, weights)
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
    told: Row = {"signals": name}
    for level, rows in (("turn", turns), ("session", sessions)):
        means, margins = mean(rows), margin(rows)
        for shown in TOLD[level]:
            told |= {f"{level} {shown}": means[shown], f"± {level[0]}{shown}": margins[shown]}
    return told


def _looked_at(asking: object) -> list[ranking.CandidateRank]:
    """Run a search and return what its ranking stage looked at, in its order."""
    found: list[ranking.CandidateRank] = []
    own_rank, own_rerank = ranking.rank, reranking.rerank

    def record_rank(*arguments: object) -> list[ranking.CandidateRank]:
        ranked = own_rank(*arguments)  # type: ignore[arg-type]
        found[:] = (one for one in ranked if one.signals is not ranking.NOT_EXAMINED)
        return ranked

    def record_rerank(*arguments: object) -> list[ranking.CandidateRank]:
        ranked = own_rerank(*arguments)  # type: ignore[arg-type]
        found[:] = (one for one in ranked if one.signals is not ranking.NOT_EXAMINED)
        return ranked

    ranking.rank, reranking.rerank = record_rank, record_rerank  # type: ignore[assignment]
    try:
        asking()  # type: ignore[operator]
    finally:
        ranking.rank, reranking.rerank = own_rank, own_rerank
    return found


if __name__ == "__main__":
    sys.exit(main())
