"""mine: read files into the palace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.errors import EmbedderUnavailable
from palazzo.operations.background import start_embedding
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.settings import load

if TYPE_CHECKING:
    from palazzo.mining.report import MineProgress, MineReport, MineRequest, OnProgress
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class MineFilesRequest:
    """What to read, and how."""

    paths: Annotated[tuple[Path, ...], About("Files and directories.", positional=True, option="PATH")]
    mode: Annotated[
        Literal["auto", "docs", "all", "convos"],
        About("Documents only, code too, or conversations only; auto looks at what is there."),
    ] = "auto"
    wing: Annotated[str | None, About("File all of it in this wing instead of each project's own.")] = None
    room: Annotated[str | None, About("File all of it in this room.")] = None
    include: Annotated[
        tuple[str, ...], About("Read only files that match; may be given several times.", metavar="GLOB")
    ] = ()
    exclude: Annotated[
        tuple[str, ...], About("Leave out files that match; may be given several times.", metavar="GLOB")
    ] = ()
    gitignore: Annotated[bool, About("Whether ignore files are obeyed.")] = True
    dry_run: Annotated[bool, About("Only say what would be read.")] = False
    wait: Annotated[bool, About("Make the vectors now instead of in the background.")] = False


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was left out, and why."""

    uri: str
    reason: str


@dataclass(frozen=True, slots=True)
class FailedFile:
    """A file that could not be read to its end."""

    uri: str
    error: str


@dataclass(frozen=True, slots=True)
class MineResult:
    """What was read."""

    sources: int
    new: int
    grown: int
    unchanged: int
    skipped: tuple[SkippedFile, ...]
    items: int
    drawers: int
    failed: tuple[FailedFile, ...]
    took_s: float
    noise: Annotated[int, PERSON_ONLY] = 0
    wings: Annotated[tuple[str, ...], PERSON_ONLY] = ()
    dry_run: Annotated[bool, PERSON_ONLY] = False
    pending: Annotated[int, PERSON_ONLY] = 0
    """Passages that still wait for a vector."""
    note: Annotated[str, PERSON_ONLY] = ""


def mine(context: Context, request: MineFilesRequest) -> MineResult:
    """Read files into the palace, to the byte; what was read before and has not changed costs nothing.

    In a project that is its documentation, and transcripts wherever they lie. What was read can be found by
    its words at once, and by its meaning as soon as its vectors are made.
    """
    from palazzo.mining.mine import mine as run

    asked = _request(context, request)
    if request.dry_run:
        database = context.reading().database if context.has_palace else None
        return _result(run(database, lambda: context.now, asked, _relay(context)), True, 0, "")
    palace = context.writing()
    try:
        report = run(palace.database, palace.clock, asked, _relay(context))
        note = _embed(context) if request.wait else ""
    finally:  # also when it was interrupted: what was read so far is kept, and wants its vectors
        if not request.wait:
            start_embedding(context)
    return _result(report, False, _pending(context), note)


def _request(context: Context, request: MineFilesRequest) -> MineRequest:
    from palazzo.mining.report import MineRequest
    from palazzo.operations.remember import place_name

    own = load(context.settings_file, None, context.variables)  # mining reads each project's own file itself
    return MineRequest(
        paths=tuple(context.cwd / path.expanduser() for path in request.paths),
        mode=request.mode,
        wing=None if request.wing is None else place_name("--wing", request.wing),
        room=None if request.room is None else place_name("--room", request.room),
        include=request.include,
        exclude=(*request.exclude, *own.texts("mine.exclude")),
        gitignore=request.gitignore,
        dry_run=request.dry_run,
        policy="all" if own.text("mine.policy") == "all" else "docs",
    )


def _relay(context: Context) -> OnProgress:
    def on_progress(progress: MineProgress) -> None:
        context.report("reading", progress.done, progress.total, f"{progress.items:,} items")

    return on_progress


def _embed(context: Context) -> str:
    """Make the vectors that are pending; return why not, if they cannot be made."""
    try:
        context.writing().embed_pending(lambda done, total: context.report("embedding", done, total))
    except EmbedderUnavailable as error:
        return str(error)
    return ""


def _pending(context: Context) -> int:
    from palazzo.store import vectors

    with context.reading().database.snapshot() as connection:
        return vectors.count_pending(connection)


def _result(report: MineReport, dry_run: bool, pending: int, note: str) -> MineResult:
    return MineResult(
        sources=report.sources,
        new=report.new,
        grown=report.grown,
        unchanged=report.unchanged,
        skipped=tuple(SkippedFile(one.uri, one.reason) for one in report.skipped),
        items=report.items,
        drawers=report.drawers,
        failed=tuple(FailedFile(one.uri, one.error) for one in report.failed),
        took_s=report.took_s,
        noise=report.noise,
        wings=report.wings,
        dry_run=dry_run,
        pending=pending,
        note=note,
    )


def _all_failed(result: MineResult) -> bool:
    return bool(result.failed) and len(result.failed) == result.sources


OPERATION = Operation("mine", MineFilesRequest, MineResult, mine, writes=True, failed=_all_failed)
