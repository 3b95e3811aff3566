"""Requests, results and operations of `bench`: what faces know of the feature, without its engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from palazzo.bench.summaries import Levels, Means, ReturnRates, Share, Unanswerable
from palazzo.frozen_class import frozen
from palazzo.operations.operation import PERSON_ONLY, About, Operation


@frozen
class BenchRequest:
    """Run a benchmark on this machine and print its figures.

    guard: how many labelled secrets redaction finds, how much of poisoned sessions is injected automatically, and
    whether recorded words escape their fence. It takes some minutes; --limit sets how many of 1,000 texts it tries.
    locomo, longmemeval: how much of a data set's evidence search finds, in palaces made for it, compared with
    baselines. self: how often search finds again what your own palace holds; the palace is only read.
    """

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


BENCH = Operation(
    "bench",
    BenchRequest,
    BenchResult,
    scope="admin",
    group="Upkeep",
    summary="Run a benchmark on this machine",
    examples=("palazzo bench self", "palazzo bench locomo locomo10.json --limit 200"),
)


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
