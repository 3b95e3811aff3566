"""bench: run a benchmark on this machine."""

from __future__ import annotations

import importlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo import paths
from palazzo.bench import DATA_SETS, figures, guard_figures, own_palace, retrieval
from palazzo.bench.fence_texts import COUNT
from palazzo.bench.json_dataset import DocumentError, load
from palazzo.errors import UsageError
from palazzo.features.bench.contract import (
    Above,
    BenchRequest,
    BenchResult,
    Example,
    GuardBench,
    GuardTable,
    Ingest,
    OwnBench,
    RetrievalBench,
)
from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.scratch_search import SearchRunner
from palazzo.features.search.search import search
from palazzo.index.embedder_choice import open_embedder
from palazzo.index.signals import Signals
from palazzo.operations.context import Context

if TYPE_CHECKING:
    from palazzo.bench.cases import Case
    from palazzo.bench.own_palace import Hit, ProbeResult
    from palazzo.bench.retrieval import Outcome

STAGES = ("keywords", "vectors", "ranking", "tokens")
OWN_QUESTIONS = 300
"""Default number of questions for `self`."""
_EXAMPLES, _ABOVE, _EXCERPT = 10, 3, 160


def bench(context: Context, request: BenchRequest) -> BenchResult:
    """Run a benchmark on this machine and print its figures."""
    _check(request)
    if request.name == "guard":
        return _guard(context, request)
    if request.name == "self":
        return _self(context, request)
    return _retrieval(context, request)


def _check(request: BenchRequest) -> None:
    if request.name in DATA_SETS and request.file is None:
        raise UsageError(f"Give the data set's file: palazzo bench {request.name} FILE.")
    if request.name not in DATA_SETS and (request.file or request.shared or request.without or request.jobs != 1):
        raise UsageError(f"'{request.name}' takes no file, and none of --shared, --without and --jobs.")
    for name, value in (("limit", request.limit), ("jobs", request.jobs)):
        if value is not None and value < 1:
            raise UsageError(f"--{name} is {value}; it must be at least 1.")
    if not request.without:
        return

    stage_names = tuple(dict.fromkeys((*STAGES, *Signals._fields)))  # `tokens` is both
    for stage in request.without:
        if stage not in stage_names:
            raise UsageError(f"Unknown stage or signal '{stage}'. Choose from: {', '.join(stage_names)}.")
    if {"keywords", "vectors"} <= set(request.without):
        raise UsageError("Without keywords and without vectors, nothing is left to search with.")


def _guard(context: Context, request: BenchRequest) -> GuardBench:
    results = guard_figures.run(context.report, min(request.limit or COUNT, COUNT))
    return GuardBench("guard", tuple(GuardTable(table.title, table.rows) for table in results))


def _retrieval(context: Context, request: BenchRequest) -> RetrievalBench:
    cases = retrieval.sample_cases(read_cases(request.name, request.file), request.limit, request.seed, request.shared)
    threads = 1 if request.jobs > 1 else 2
    plan = retrieval.Plan(
        SearchRunner(request.without),
        partial(open_embedder, replace(context.embedder_spec, threads=threads)),
        paths.cache_directory(context.variables) / "embeddings",
        request.shared,
        request.jobs,
    )
    outcome = retrieval.run(cases, plan, context.report)
    attempts, scored_attempts = outcome.results, figures.select_scored(outcome.results)
    ours = figures.levels(scored_attempts)
    return RetrievalBench(
        dataset=request.name,
        questions=len(scored_attempts),
        session=ours.session,
        turn=ours.turn,
        margin=figures.margins(scored_attempts),
        by_type=figures.by_type(attempts),
        by_case=figures.by_case(scored_attempts),
        with_unanswerable=figures.share(attempts),
        without_unanswerable=figures.share([attempt for attempt in attempts if not attempt.question.unanswerable]),
        unanswerable=figures.unanswerable(attempts),
        baselines=figures.baselines(scored_attempts),
        latency_ms=figures.latency(attempts),
        ingest=_ingest(outcome),
        shared=request.shared,
        without=request.without,
        seed=request.seed,
        jobs=request.jobs,
    )


def read_cases(name: str, path: Path | None) -> tuple[Case, ...]:
    """Read a data set's file; raise UsageError in one sentence when it is not one."""
    assert path is not None  # noqa: S101 - for the type checker: a request without one was refused
    reader = importlib.import_module(DATA_SETS[name])
    document = load(path)
    try:
        cases: tuple[Case, ...] = reader.read(document)
    except DocumentError as error:
        raise UsageError(f"{path} is not a {reader.TITLE} file: {error}.") from None
    if not any(case.questions for case in cases):
        raise UsageError(f"{path} is not a {reader.TITLE} file: it has no questions.")
    return cases


def _ingest(outcome: Outcome) -> Ingest:
    return Ingest(
        drawers=outcome.drawers,
        seconds=round(outcome.seconds, 3),
        drawers_per_second=round(outcome.drawers / max(outcome.seconds, 1e-9), 1),
        bytes=outcome.bytes,
        disk_bytes=outcome.disk,
        embedding_seconds=round(outcome.embedding, 3),
        embedded=outcome.embedded_count,
        reused=outcome.reuse_count,
    )


def _self(context: Context, request: BenchRequest) -> OwnBench:
    quiet = {**context.variables, "PALAZZO_SERVICE": "off"}  # a search would have vectors made that are pending
    with Context(context.palace_path, context.cwd, quiet) as reading:
        with reading.reading().database.snapshot() as connection:
            drawers, probes = own_palace.probes(connection, request.limit or OWN_QUESTIONS, request.seed)

        def ask(question: str) -> tuple[Hit, ...]:
            return search(reading, SearchRequest(question, limit=own_palace.DEPTH, drawers=True)).hits

        first = search(reading, SearchRequest(probes[0].question))  # it loads the vectors
        attempts = own_palace.ask_all(probes, ask, lambda done, total: context.report("asking", done, total))
    by_kind = {
        kind: own_palace.measure_returns([attempt for attempt in attempts if attempt.probe.kind == kind])
        for kind in own_palace.KINDS
    }
    return OwnBench(
        drawers,
        len(attempts),
        request.seed,
        first.index,
        own_palace.measure_returns(attempts).found,
        by_kind,
        own_palace.latency(attempts),
        tuple(_example(attempt) for attempt in own_palace.worst(attempts, _EXAMPLES)),
        first.note,
    )


def _example(attempt: ProbeResult) -> Example:
    above = attempt.hits[: attempt.rank - 1 if attempt.rank else None][:_ABOVE]
    return Example(
        attempt.probe.kind,
        attempt.probe.question,
        tuple(sorted(attempt.probe.origins)),
        attempt.rank,
        tuple(Above(hit.id, hit.title, hit.score, " ".join(hit.text[:_EXCERPT].split())) for hit in above),
    )
