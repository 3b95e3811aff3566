"""Retrieval benchmark: files the cases, asks the questions, and compares with the results of a plain index.

Filing uses mining's own path, into a palace in a scratch directory. The caller passes in the search (`SearchOpener`),
since the search that people use belongs to a higher layer.
"""

from __future__ import annotations

import multiprocessing
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from palazzo.bench.baselines import Plain
from palazzo.bench.cases import Case, Question
from palazzo.bench.embedding_cache import CachingEmbedder
from palazzo.bench.haystack import Haystack
from palazzo.errors import PalazzoError
from palazzo.frozen_class import frozen
from palazzo.index.embedder import Embedder, TokenEmbedder
from palazzo.model import ItemId
from palazzo.palace import Palace

DEPTH = 50
"""Number of hits that are requested: they usually include ten sessions."""
OURS = "palazzo"
_WARM_UP_QUERY = "warming up"
OnProgress = Callable[[str, int, int], None]


@frozen
class SearchHit:
    """One hit: its session, and the items that it shows, in order."""

    session: str
    items: tuple[ItemId, ...]


@frozen
class Answer:
    """The hits of a search, best first, and the time in milliseconds."""

    hits: tuple[SearchHit, ...]
    took_ms: float


Ask = Callable[[str], Answer]


class SearchOpener(Protocol):
    """Opens a palace for searches with an embedder, which it leaves open.

    It is sent to other processes, so it can be pickled.
    """

    def __call__(self, palace: Path, embedder: Embedder) -> AbstractContextManager[Ask]:
        """Return the function that answers questions while the context lasts, with at most `DEPTH` hits."""
        ...


@frozen
class Plan:
    """Parameters of a benchmark run. It can be pickled if its parts can.

    `shared` files all cases in one palace. `jobs` is the number of processes; one palace is processed by one process.
    """

    open_search: SearchOpener
    open_embedder: Callable[[], Embedder]
    cache: Path
    shared: bool = False
    jobs: int = 1


@frozen
class Ranking:
    """Turns and sessions in the order in which one search method returned them, without repetitions."""

    turns: tuple[str, ...]
    sessions: tuple[str, ...]


@frozen
class QuestionResult:
    """A question, the expected results, the results of each method, and the time of Palazzo's search."""

    case: str
    question: Question
    turns: frozenset[str]
    sessions: frozenset[str]
    rankings: Mapping[str, Ranking]
    took_ms: float


@dataclass(slots=True)
class Outcome:
    """All questions of a run, in the file's order, and the cost of filing.

    `seconds` is the time until everything is searchable by keyword; `embedding` is the time from there until all
    vectors exist. `reuse_count` of them came from the cache.
    """

    results: list[QuestionResult] = field(default_factory=list)
    drawers: int = 0
    bytes: int = 0
    disk: int = 0
    seconds: float = 0.0
    embedding: float = 0.0
    embedded_count: int = 0
    reuse_count: int = 0

    def add(self, outcome: Outcome) -> None:
        """Add the outcome of another palace."""
        self.results.extend(outcome.results)
        self.drawers, self.bytes, self.disk = (
            self.drawers + outcome.drawers,
            self.bytes + outcome.bytes,
            self.disk + outcome.disk,
        )
        self.seconds, self.embedding = self.seconds + outcome.seconds, self.embedding + outcome.embedding
        self.embedded_count, self.reuse_count = (
            self.embedded_count + outcome.embedded_count,
            self.reuse_count + outcome.reuse_count,
        )


def sample_cases(cases: Sequence[Case], limit: int | None, seed: int, shared: bool) -> tuple[Case, ...]:
    """Return the cases with `limit` randomly drawn questions, in their order, without cases that are not needed.

    In a shared palace all cases are needed: the questions are searched among all of them.
    """
    places = [(c, q) for c, case in enumerate(cases) for q in range(len(case.questions))]
    if limit is None or limit >= len(places):
        return tuple(cases)
    sample = set(random.Random(seed).sample(places, limit))  # noqa: S311 - the same questions each time are wanted
    reduced_cases = [
        replace(case, questions=tuple(question for q, question in enumerate(case.questions) if (c, q) in sample))
        for c, case in enumerate(cases)
    ]
    return tuple(case for case in reduced_cases if shared or case.questions)


def run(cases: Sequence[Case], plan: Plan, report: OnProgress) -> Outcome:
    """Archive the cases and ask their questions: each case in its own palace, or all in one."""
    groups = [tuple(cases)] if plan.shared else [(case,) for case in cases]
    way = _one_by_one if plan.jobs == 1 or len(groups) < 2 else _side_by_side
    outcome = Outcome()
    with tempfile.TemporaryDirectory(prefix="palazzo-bench-") as scratch:
        work = [(group, Path(scratch) / str(number) / "palace.db") for number, group in enumerate(groups)]
        for group_outcome in way(work, plan, report):
            outcome.add(group_outcome)
    return outcome


Work = tuple[tuple[Case, ...], Path]
"""Cases, and the path for their palace."""


def _one_by_one(work: Sequence[Work], plan: Plan, report: OnProgress) -> Iterator[Outcome]:
    with closing(CachingEmbedder(plan.open_embedder(), plan.cache)) as embedder:
        for number, (group, path) in enumerate(work):
            report("palaces", number, len(work))
            yield run_group(group, path, plan.open_search, embedder, report)


def _side_by_side(work: Sequence[Work], plan: Plan, report: OnProgress) -> Iterator[Outcome]:
    """Run each group in one of several processes; outcomes come in the groups' order."""
    process_context = multiprocessing.get_context(
        "spawn"
    )  # a fork would share the threads of a model that is open here
    pool = ProcessPoolExecutor(min(plan.jobs, len(work)), process_context, _start, (plan,))
    try:
        running = [pool.submit(_in_process, task) for task in work]
        for count, _ in enumerate(as_completed(running), 1):
            report("palaces", count, len(work))
        yield from (task.result() for task in running)
    except BrokenProcessPool:
        raise PalazzoError(
            f"The system ended one of the benchmark's {plan.jobs} processes, perhaps because it used too much "
            "memory: run it again with fewer --jobs; vectors computed so far are kept."
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_own: tuple[Plan, CachingEmbedder]
"""State that a worker process keeps between groups."""


def _start(plan: Plan) -> None:
    global _own
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ^C ends it at once; the process that waits says so
    _own = plan, CachingEmbedder(plan.open_embedder(), plan.cache)


def _in_process(work: Work) -> Outcome:
    plan, embedder = _own
    return run_group(*work, plan.open_search, embedder, lambda what, done, total: None)


def run_group(
    group: Sequence[Case], path: Path, open_search: SearchOpener, embedder: CachingEmbedder, report: OnProgress
) -> Outcome:
    """Archive cases into a new palace at `path`, ask their questions there, and delete it."""
    haystack = Haystack(group)
    outcome = file_into(path, haystack, embedder, report)
    outcome.results = ask_all(path, group, haystack, open_search, embedder, report)
    shutil.rmtree(path.parent)
    return outcome


def file_into(path: Path, haystack: Haystack, embedder: CachingEmbedder, report: OnProgress) -> Outcome:
    """Archive a haystack into the palace at `path` and make its vectors."""
    began, embedded_base, reuse_base = time.perf_counter(), embedder.made, embedder.reused
    with Palace.open(path, embedder=lambda: SharedEmbedder(embedder)) as palace:
        totals = haystack.file(palace, path.parent, lambda done, total: report("filing", done, total))
        findable = time.perf_counter()
        palace.embed_pending(lambda done, total: report("embedding", done, total))
    return Outcome(
        drawers=totals.drawers,
        bytes=totals.bytes,
        disk=sum(file.stat().st_size for file in path.parent.iterdir()),
        seconds=findable - began,
        embedding=time.perf_counter() - findable,
        embedded_count=embedder.made - embedded_base,
        reuse_count=embedder.reused - reuse_base,
    )


def ask_all(
    path: Path,
    group: Sequence[Case],
    haystack: Haystack,
    open_search: SearchOpener,
    embedder: Embedder,
    report: OnProgress,
) -> list[QuestionResult]:
    """Ask the questions of the cases, after one search that loads the vectors."""
    questions = sum(len(case.questions) for case in group)
    results: list[QuestionResult] = []
    with closing(Plain(haystack, embedder)) as plain, open_search(path, embedder) as ask:
        ask(_WARM_UP_QUERY)
        for case in group:
            for question in case.questions:
                results.append(_ask_question(case, question, haystack, ask, plain))
                report("asking", len(results), questions)
    return results


def _ask_question(case: Case, question: Question, haystack: Haystack, ask: Ask, plain: Plain) -> QuestionResult:
    answer = ask(question.text)
    turns = dict.fromkeys(haystack.turn(item) for hit in answer.hits for item in hit.items)
    sessions = dict.fromkeys(haystack.session(hit.session) for hit in answer.hits)
    baseline_rankings = {way: Ranking(tuple(t), tuple(s)) for way, (t, s) in plain.rank(question.text, DEPTH).items()}
    return QuestionResult(
        case.id,
        question,
        haystack.wanted_turns(case, question),
        haystack.wanted_sessions(case, question),
        {OURS: Ranking(tuple(turns), tuple(sessions)), **baseline_rankings},
        answer.took_ms,
    )


class SharedEmbedder:
    """An embedder that stays open when a palace that used it is closed."""

    def __init__(self, embedder: Embedder) -> None:
        self.id, self.dimension, self.max_tokens = embedder.id, embedder.dimension, embedder.max_tokens
        self.embed, self.embed_query = embedder.embed, embedder.embed_query
        if isinstance(embedder, TokenEmbedder):
            self.embed_tokens = embedder.embed_tokens

    def close(self) -> None:
        """Do nothing: the caller that opened it closes it."""
