"""bench: run a benchmark on this machine."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from palazzo import paths
from palazzo.bench import DATA_SETS
from palazzo.bench.summaries import Levels, Means, ReturnRates, Share, Unanswerable
from palazzo.errors import UsageError
from palazzo.operations.operation import PERSON_ONLY, About, Operation

if TYPE_CHECKING:
    from palazzo.bench.cases import Case
    from palazzo.bench.own_palace import Hit, ProbeResult
    from palazzo.bench.retrieval import Outcome
    from palazzo.operations.context import Context

STAGES = ("keywords", "vectors", "ranking", "tokens")
OWN_QUESTIONS = 300
"""Default number of questions for `self`."""
_EXAMPLES, _ABOVE, _EXCERPT = 10, 3, 160


@dataclass(frozen=True, slots=True)
class BenchRequest:
    """The benchmark, and how to run it."""

    name: Annotated[Literal["guard", "locomo", "longmemeval", "self"], About("The benchmark.", positional=True)]
    file: Annotated[Path | None, About("The data set's own JSON file.", positional=True)] = None
    shared: Annotated[bool, About("File all conversations in one palace, instead of one palace each.")] = False
    without: Annotated[
        tuple[str, ...],
        About(
            "Leave out a stage (keywords, vectors, ranking, tokens) or a ranking signal; may be repeated.",
            metavar="STAGE",
        ),
    ] = ()
    limit: Annotated[int | None, About("Ask this many questions, chosen at random.", metavar="QUESTIONS")] = None
    seed: Annotated[int, About("Random seed.", metavar="N")] = 1
    jobs: Annotated[int, About("Number of parallel processes, each with its own palaces.", metavar="N")] = 1


@dataclass(frozen=True)
class BenchResult:
    """The result of a benchmark. Each kind of benchmark has its own fields; `of` names the kind."""

    of: ClassVar[str]


@dataclass(frozen=True)
class GuardTable:
    """Rows with the same columns."""

    title: str
    rows: tuple[dict[str, str | float | int], ...]


@dataclass(frozen=True)
class GuardBench(BenchResult):
    """One table for each protection: redaction of secrets, poison detection, and fences around untrusted content."""

    of: ClassVar[str] = "guard"
    name: str
    tables: tuple[GuardTable, ...]


@dataclass(frozen=True)
class Ingest:
    """The cost of ingest. `seconds` end when all texts are searchable by keyword; `embedding_seconds` go on from there.

    `embedded` texts got their vector in this run, `reused` texts had a vector in the cache. `bytes` is the size of the
    data set's text, `disk_bytes` the size of the palaces.
    """

    drawers: int
    seconds: float
    drawers_per_second: float
    bytes: int
    disk_bytes: int
    embedding_seconds: float
    embedded: int
    reused: int


@dataclass(frozen=True)
class RetrievalBench(BenchResult):
    """Recall on a data set, in percent, and its cost.

    `questions` are those that the data set's own evaluation counts. `with_unanswerable` also counts the questions that
    have no answer (but have sessions that they were made from); `without_unanswerable` counts none of these. `margin`
    is half the width of each mean's 95 % interval over questions.
    """

    of: ClassVar[str] = "locomo and longmemeval"
    dataset: str
    questions: int
    session: Means
    turn: Means
    margin: Levels
    by_type: dict[str, Share]
    by_case: dict[str, Share]
    with_unanswerable: Share
    without_unanswerable: Share
    unanswerable: Unanswerable
    baselines: dict[str, Levels]
    latency_ms: dict[str, float]
    ingest: Ingest
    shared: bool
    without: tuple[str, ...]
    seed: int
    jobs: int


@dataclass(frozen=True)
class Above:
    """A drawer that scored above the expected one."""

    id: str
    title: str
    score: float
    text: str


@dataclass(frozen=True)
class Example:
    """A question whose source was not the first hit: its rank (null: not among ten), and the drawers above it."""

    kind: str
    question: str
    origins: tuple[str, ...]
    rank: int | None
    above: tuple[Above, ...]


@dataclass(frozen=True)
class OwnBench(BenchResult):
    """How often, in percent, a search found the drawer that a question was made from."""

    of: ClassVar[str] = "self"
    drawers: int
    questions: int
    seed: int
    index: Literal["ready", "keyword-only", "building", "without-tokens"]
    found: Means
    by_kind: dict[str, ReturnRates]
    latency_ms: dict[str, float]
    examples: tuple[Example, ...]
    note: Annotated[str, PERSON_ONLY] = ""


def bench(context: Context, request: BenchRequest) -> BenchResult:
    """Run a benchmark on this machine and print its figures.

    guard: how many labelled secrets redaction finds, how much of poisoned sessions is injected automatically, and
    whether recorded words escape their fence. It takes some minutes; --limit sets how many of 1,000 texts it tries.
    locomo, longmemeval: how much of a data set's evidence search finds, in palaces made for it, compared with
    baselines. self: how often search finds again what your own palace holds; the palace is only read.
    """
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
    from palazzo.index.ranking import Signals

    stage_names = tuple(dict.fromkeys((*STAGES, *Signals._fields)))  # `tokens` is both
    for stage in request.without:
        if stage not in stage_names:
            raise UsageError(f"Unknown stage or signal '{stage}'. Choose from: {', '.join(stage_names)}.")
    if {"keywords", "vectors"} <= set(request.without):
        raise UsageError("Without keywords and without vectors, nothing is left to search with.")


def _guard(context: Context, request: BenchRequest) -> GuardBench:
    from palazzo.bench import guard_figures
    from palazzo.bench.fence_texts import COUNT

    results = guard_figures.run(context.report, min(request.limit or COUNT, COUNT))
    return GuardBench("guard", tuple(GuardTable(table.title, table.rows) for table in results))


def _retrieval(context: Context, request: BenchRequest) -> RetrievalBench:
    from palazzo.bench import figures, retrieval
    from palazzo.features.search.scratch_search import SearchRunner
    from palazzo.index.embedder_choice import open_embedder

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
    from palazzo.bench.json_dataset import DocumentError, load

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
    from palazzo.bench import own_palace
    from palazzo.features.search.search import SearchRequest, search
    from palazzo.operations.context import Context

    quiet = {**context.variables, "PALAZZO_SERVICE": "off"}  # a search would have vectors made that are pending
    with Context(context.palace_path, context.cwd, quiet) as reading:
        with reading.reading().database.snapshot() as connection:
            drawers, probes = own_palace.probes(connection, request.limit or OWN_QUESTIONS, request.seed)

        def ask(question: str) -> tuple[Hit, ...]:
            return search(reading, SearchRequest(question, limit=own_palace.DEPTH)).hits

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


OPERATION = Operation(
    "bench",
    BenchRequest,
    BenchResult,
    bench,
    scope="admin",
    examples=("palazzo bench self", "palazzo bench locomo locomo10.json --limit 200"),
)
