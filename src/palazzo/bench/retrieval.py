"""Running a retrieval benchmark: file the cases, ask the questions, compare with what a bare index gives."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from palazzo.archive import identity
from palazzo.bench.cases import KIND, Case, Cases, Question, Talk, Turn, session_id
from palazzo.bench.measures import mean, measure
from palazzo.embed import Embedder
from palazzo.mining.collected import Reading, conversations, take_conversation
from palazzo.mining.placing import Placing
from palazzo.mining.wanted import ANY
from palazzo.operations.context import Context
from palazzo.operations.search import SearchRequest, search
from palazzo.palace import Palace
from palazzo.store.plain_index import PlainIndex

DEPTH = 50
"""Hits that are asked for: ten sessions are among them as a rule."""
_PLENTY = 1_000_000
"""Tokens; what a hit shows is not measured here."""
OnProgress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what came back: turns and sessions in order, by each way of looking for them, and how long."""

    case: str
    question: Question
    turns: Mapping[str, Sequence[str]]
    sessions: Mapping[str, Sequence[str]]
    took_ms: float


@dataclass(slots=True)
class Outcome:
    """All questions of a run, and what filing took."""

    asked: list[Asked] = field(default_factory=list)
    drawers: int = 0
    seconds: float = 0.0
    bytes: int = 0


def run(
    cases: Sequence[Case],
    embedder: Embedder,
    shared: bool = False,
    without: tuple[str, ...] = (),
    baselines: bool = True,
    on_progress: OnProgress = lambda what, done, total: None,
) -> Outcome:
    """File the cases and ask their questions: each case in a palace of its own, or all in one that is `shared`."""
    outcome = Outcome()
    groups = [tuple(cases)] if shared else [(case,) for case in cases]
    questions = sum(len(case.questions) for case in cases)
    with tempfile.TemporaryDirectory(prefix="palazzo-bench-") as scratch:
        for number, group in enumerate(groups):
            on_progress("filing", number, len(groups))
            path = Path(scratch) / f"{number}" / "palace.db"
            _file(path, group, embedder, outcome, on_progress)
            with _Asking(path, embedder) as context:
                for case in group:
                    plain = _Plain(case, embedder) if baselines else None
                    for question in case.questions:
                        if question.turns or question.sessions:
                            outcome.asked.append(_ask(context, case, question, shared, without, plain))
                        on_progress("asking", len(outcome.asked), questions)
    return outcome


def scores(asked: Iterable[Asked], level: str, way: str = "palazzo") -> dict[str, float]:
    """Return the mean measures of the questions at `turn` or `session` level, for one way of looking."""
    rows = []
    for one in asked:
        wanted = one.question.turns if level == "turn" else one.question.sessions
        ranked = (one.turns if level == "turn" else one.sessions).get(way)
        if wanted and ranked is not None:
            rows.append(measure(ranked, wanted))
    return mean(rows)


class _Asking(Context):
    """A context whose embedder is the run's own."""

    def __init__(self, palace: Path, embedder: Embedder) -> None:
        super().__init__(palace=palace, cwd=palace.parent, variables={"PALAZZO_SERVICE": "off", "HOME": str(palace)})
        self._own = embedder

    def open_embedder(self, threads: int = 1) -> Embedder:
        return _Kept(self._own)


class _Kept:
    """An embedder that stays open when a palace that used it is closed."""

    def __init__(self, embedder: Embedder) -> None:
        self.id, self.dimension, self.max_tokens = embedder.id, embedder.dimension, embedder.max_tokens
        self.embed, self.embed_query = embedder.embed, embedder.embed_query

    def close(self) -> None:
        """Nothing: the run closes it."""


def _file(path: Path, group: tuple[Case, ...], embedder: Embedder, outcome: Outcome, on_progress: OnProgress) -> None:
    began = time.perf_counter()
    with Palace.open(path, embedder=lambda: _Kept(embedder)) as palace:
        for case in group:
            cases = Cases((case,))
            reading = Reading(palace.database, cases, path.parent, Placing(palace.database, case.id), palace.clock, ANY)
            for met in conversations(cases, path.parent, {}, ANY):
                taken = take_conversation(reading, met, lambda items: None)
                outcome.drawers += getattr(taken, "drawers", 0)
                outcome.bytes += getattr(taken, "bytes", 0)
        outcome.seconds += time.perf_counter() - began
        palace.embed_pending(lambda done, total: on_progress("embedding", done, total))


def _ask(
    context: Context, case: Case, question: Question, shared: bool, without: tuple[str, ...], plain: _Plain | None
) -> Asked:
    began = time.perf_counter()
    found = search(context, SearchRequest(question.text, limit=DEPTH, budget=_PLENTY, without=without))
    took = (time.perf_counter() - began) * 1000
    palace = context.reading()
    known = _turns_by_item(case)
    turns: dict[str, None] = {}
    sessions: dict[str, None] = {}
    for hit in found.hits:
        sessions.setdefault(hit.source.session_id.removeprefix(f"{case.id}/"))
        for span in palace.drawer(hit.id).spans:
            turns.setdefault(known.get(span.item, span.item))
    by_turn, by_session = {"palazzo": list(turns)}, {"palazzo": list(sessions)}
    if plain is not None:
        for way, ranked in plain.turns(question.text).items():
            by_turn[way] = ranked
        for way, ranked in plain.sessions(question.text).items():
            by_session[way] = ranked
    return Asked(case.id, question, by_turn, by_session, took)


def _turns_by_item(case: Case) -> dict[str, str]:
    return {
        identity.message_id(KIND, session_id(case, talk), turn.id): turn.id
        for talk in case.talks
        for turn in talk.turns
    }


class _Plain:
    """What bare FTS5 and bare vectors give: one row and one vector per turn, and per session."""

    def __init__(self, case: Case, embedder: Embedder) -> None:
        self._embedder = embedder
        self._turns = [turn.id for talk in case.talks for turn in talk.turns]
        self._sessions = [talk.id for talk in case.talks]
        lines = [_line(turn) for talk in case.talks for turn in talk.turns]
        whole = ["\n".join(_line(turn) for turn in talk.turns) for talk in case.talks]
        self._words = PlainIndex(lines), PlainIndex(whole)
        self._vectors = embedder.embed(lines), embedder.embed(whole)

    def turns(self, question: str) -> dict[str, list[str]]:
        return self._rank(question, 0, self._turns)

    def sessions(self, question: str) -> dict[str, list[str]]:
        return self._rank(question, 1, self._sessions)

    def _rank(self, question: str, level: int, ids: Sequence[str]) -> dict[str, list[str]]:
        nearest = np.argsort(-(self._vectors[level] @ self._embedder.embed_query(question)), kind="stable")[:DEPTH]
        return {
            "bm25": [ids[n] for n in self._words[level].rank(question, DEPTH)],
            "vector": [ids[int(n)] for n in nearest],
        }


def _line(turn: Turn) -> str:
    return f"{turn.author}: {turn.text}" if turn.author else turn.text


def talks(cases: Sequence[Case]) -> Iterator[Talk]:
    """Yield every session of every case."""
    return (talk for case in cases for talk in case.talks)
