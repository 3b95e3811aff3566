"""Measure what it is worth that memories which were used together lift each other: on designed logs of use.

    python benchmarks/used_together.py [--distractors 20000] [--weights 0.1,0.2,0.3] [--rounds 3] [--json]

Nobody's real log of use is at hand, so these are made up, with the ledger's own functions, from the coding suite's dev
half. They say what the rule does if use is like that, and what it costs if it is not:

- `again`: 60 sessions, each of which used what answers three questions on one project. Half of the questions, by lot,
  were ever asked; asked again are these (`answer used before`) and the others (`never used`: what they lose to drawers
  that were used). Then the halves change places.
- `now`: the same, and the session that asks has used the answer to another question of one of these sessions.
- `by lot`: 60 sessions, each of which used three of what the first five hits to questions on one project were, right or
  not: what an agent that names whatever it is given leaves behind.

All is asked `--rounds` times over with other lots. Without a log nothing is lifted, so that row is what search finds
anyway. Milliseconds are those of searching, over all rounds; the log is there in every row but the first.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.coding.distractors import remembering
from benchmarks.coding.filing import DEPTH, file_corpus, right_drawers
from benchmarks.coding.questions import Question, read_questions
from benchmarks.measuring import Row, percentile, report

from palazzo.bench.measures import mean, measure
from palazzo.index import ranking
from palazzo.index.query import Query
from palazzo.model import Micros
from palazzo.palace import Palace
from palazzo.store import hook_sessions, ledger, use_totals
from palazzo.store.ledger import Part

SESSIONS, EACH = 60, 3
NOW = 1_780_300_800_000_000
DAY = 86_400_000_000
PLENTY = 1_000_000
SHOWN = ("any@1", "any@5", "any@10", "mrr")
Sessions = list[list[str]]


@dataclass(frozen=True, slots=True)
class Suite:
    """The palace, the answerable questions of the dev half, and of each what answers and its project."""

    palace: Palace
    questions: tuple[Question, ...]
    right: Mapping[str, frozenset[str]]
    rows: Mapping[str, int]

    def project(self, question: Question) -> str:
        """Which project a question is about: the letter that its id begins with."""
        return question.id[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask all, and print a row for each log, class of questions and weight."""
    parser = argparse.ArgumentParser(description="Measure what having been used together is worth.")
    parser.add_argument("--distractors", type=int, default=20_000)
    parser.add_argument("--weights", default="0.1,0.2,0.3")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    embedder = remembering()
    with tempfile.TemporaryDirectory(prefix="palazzo-together-") as scratch:
        file = file_corpus(Path(scratch), given.distractors, embedder)
        with Palace.open(file, embedder=lambda: embedder) as palace:
            suite = _suite(palace)
            rows = list(_rows(suite, [float(one) for one in given.weights.split(",")], given.rounds))
    report(f"Used together: {len(suite.questions)} questions of the dev half", rows, as_json=given.json)
    return 0


def _suite(palace: Palace) -> Suite:
    with palace.database.snapshot() as connection:
        questions = [one for one in read_questions() if one.split == "dev"]
        right = right_drawers(connection, questions)
        rows = {bytes(uid).hex(): int(row) for uid, row in connection.execute("SELECT uid, id FROM drawer")}
    known = tuple(one for one in questions if right[one.id])
    return Suite(palace, known, {one: frozenset(uids) for one, uids in right.items()}, rows)


def _rows(suite: Suite, weights: Sequence[float], rounds: int) -> Iterator[Row]:
    hits = {one.id: _ask(suite, one)[0][:5] for one in suite.questions}
    yield _row("none", "all", 0.0, [_asked(suite, one) for one in suite.questions])
    for weight in weights:
        with _weighing(weight):
            found: dict[tuple[str, str], list[tuple[dict[str, float], float]]] = {}
            for seed in range(rounds):
                for log, kind, asked in _logs(suite, hits, seed):
                    found.setdefault((log, kind), []).extend(asked)
            for (log, kind), asked in found.items():
                yield _row(log, kind, weight, asked)


def _logs(
    suite: Suite, hits: Mapping[str, Sequence[str]], seed: int
) -> Iterator[tuple[str, str, list[tuple[dict[str, float], float]]]]:
    """Yield, for each log and class of questions, what was measured of each."""
    chance = random.Random(seed)
    shuffled = chance.sample(suite.questions, len(suite.questions))
    halves = shuffled[::2], shuffled[1::2]
    for known, unknown in (halves, halves[::-1]):
        groups = list(_groups(suite, known, chance))
        _log(suite.palace, [[chance.choice(sorted(suite.right[one.id])) for one in group] for group in groups])
        yield "again", "answer used before", [_asked(suite, one) for one in known]
        yield "again", "never used", [_asked(suite, one) for one in unknown]
        company = {one.id: other for group in groups for one in group for other in group if other is not one}
        yield "now", "answer used before", [_asked(suite, one, company.get(one.id)) for one in known]
        yield "now", "never used", [_asked(suite, one, chance.choice(known)) for one in unknown]
    _log(
        suite.palace,
        [
            chance.sample(pool, min(EACH, len(pool)))
            for group in _groups(suite, suite.questions, chance)
            if (pool := sorted({uid for one in group for uid in hits[one.id]}))
        ],
    )
    yield "by lot", "all", [_asked(suite, one) for one in suite.questions]


def _groups(suite: Suite, questions: Sequence[Question], chance: random.Random) -> Iterator[list[Question]]:
    """What each session of use was about: a few questions on one project."""
    by_project: dict[str, list[Question]] = {}
    for one in questions:
        by_project.setdefault(suite.project(one), []).append(one)
    pools = [pool for _, pool in sorted(by_project.items()) if len(pool) >= EACH]
    for _ in range(SESSIONS):
        yield chance.sample(chance.choice(pools), EACH)


def _log(palace: Palace, sessions: Sessions) -> None:
    """Put sessions of use in the place of those that are in the ledger: given and cited, one session a day."""
    with palace.database.transaction() as connection:
        for table in ("injection_use", "injection_part", "injection", "hook_session"):
            connection.execute(f"DELETE FROM {table}")
        use_totals.clear(connection)
        for n, uids in enumerate(sessions):
            at = Micros(NOW - (len(sessions) - n) * DAY)
            session = hook_sessions.record_hook(connection, "made-up", f"s-{n}", at)
            parts = [Part("drawer", uid) for uid in dict.fromkeys(uids)]
            ledger.record(connection, session.row, 0, "prompt", "made up", "", parts, 0, 0, at)
            for part in parts:
                ledger.note_use(connection, session.row, part.uid, "cited", at)


def _asked(suite: Suite, question: Question, company: Question | None = None) -> tuple[dict[str, float], float]:
    """What a question finds, where the session has used what answers another, if any; and how long it took."""
    uses = () if company is None else suite.right[company.id] - suite.right[question.id]
    found, took = _ask(suite, question, frozenset(suite.rows[uid] for uid in uses))
    return measure(found, suite.right[question.id]), took


def _ask(suite: Suite, question: Question, uses: frozenset[int] = frozenset()) -> tuple[list[str], float]:
    began = time.perf_counter()
    answer = suite.palace.search(Query(question.text, limit=DEPTH, budget=PLENTY, used=uses))
    return [hit.drawer.id for hit in answer.hits], (time.perf_counter() - began) * 1_000


@contextmanager
def _weighing(weight: float) -> Iterator[None]:
    """Have the lift that weight for a while."""
    before = ranking.TALK, ranking.WORK, ranking.PAGE
    ranking.TALK, ranking.WORK, ranking.PAGE = (one._replace(together=weight) for one in before)
    try:
        yield
    finally:
        ranking.TALK, ranking.WORK, ranking.PAGE = before


def _row(log: str, kind: str, weight: float, asked: Sequence[tuple[dict[str, float], float]]) -> Row:
    means = mean(measured for measured, _ in asked)
    return {
        "log": log,
        "questions": kind,
        "weight": weight,
        "asked": len(asked),
        **{name: round(means.get(name) or 0.0, 1) for name in SHOWN},
        "p50 ms": percentile([took for _, took in asked], 0.5),
    }


if __name__ == "__main__":
    raise SystemExit(main())
