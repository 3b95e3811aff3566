"""mine: index files and transcripts."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from palazzo.errors import EmbedderUnavailable
from palazzo.features.service.background_process import EMBEDDING_ACTIVITY, note_success, start_embedding
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.operations.watched_sources import excluded_directories
from palazzo.settings import load
from palazzo.text.count_phrases import count_noun

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.sources.mining_report import MineProgress, MineReport, MineRequest, OnProgress


@dataclass(frozen=True, slots=True)
class MineFilesRequest:
    """The paths to read, and the options."""

    paths: Annotated[tuple[Path, ...], About("Files and directories.", positional=True, option="PATH")]
    mode: Annotated[
        Literal["auto", "docs", "all", "convos"],
        About("Documents only, code too, or conversations only; auto decides by content."),
    ] = "auto"
    wing: Annotated[str | None, About("File everything in this wing instead of each project's own.")] = None
    room: Annotated[str | None, About("File everything in this room.")] = None
    include: Annotated[
        tuple[str, ...], About("Read only files that match; may be given several times.", metavar="GLOB")
    ] = ()
    exclude: Annotated[
        tuple[str, ...], About("Leave out files that match; may be given several times.", metavar="GLOB")
    ] = ()
    gitignore: Annotated[bool, About("Obey ignore files.", negated_help="Also read what ignore files leave out.")] = (
        True
    )
    since: Annotated[
        str | None, About("Only conversations continued since this time: a date, or an age such as 30d.")
    ] = None
    sessions: Annotated[
        tuple[str, ...],
        About("Only the conversation with this id; may be given several times.", False, "--session", "ID"),
    ] = ()
    min_messages: Annotated[int | None, About("Skip conversations with fewer messages.")] = None
    dry_run: Annotated[bool, About("Only show what would be read.")] = False
    wait: Annotated[bool, About("Compute the vectors now instead of in the background.")] = False


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was skipped, and the reason."""

    uri: str
    reason: str


@dataclass(frozen=True, slots=True)
class FailedFile:
    """A file that could not be read to the end."""

    uri: str
    error: str


@dataclass(frozen=True, slots=True)
class FileView:
    """A file of a dry run, and what an actual run would do with it.

    `bytes` is null for a directory that is skipped. A document is one source, and so is each conversation: the counts
    say how many are new, grown or unchanged. `reason` says why the file is skipped, or why it cannot be read.
    """

    uri: str
    group: Literal["document", "transcript", "export", "skipped", "failed"]
    bytes: int | None
    new: int
    grown: int
    unchanged: int
    reason: str


@dataclass(frozen=True, slots=True)
class MineResult:
    """The result of reading sources."""

    sources: int
    new: int
    grown: int
    unchanged: int
    skipped: tuple[SkippedFile, ...]
    items: int
    drawers: int
    failed: tuple[FailedFile, ...]
    took_s: float
    rows: int = 0
    noise: int = 0
    repeated: int = 0
    unreadable: int = 0
    """Each of the `rows` that were read is an item, noise (archived and never searched), repeated (archived before), or
    unreadable (archived byte for byte, and listed in `skipped`).
    """
    left_out: int = 0
    taken_back: int = 0
    """Documents that a rule now excludes, which are retired until the rule is removed, and documents whose rule was
    removed.
    """
    unread: tuple[SkippedFile, ...] = ()
    """The given paths from which nothing was read, and why."""
    files: tuple[FileView, ...] = ()
    """All files of a dry run."""
    embedding_s: float = 0.0
    """The seconds of `took_s` that computing vectors took."""
    wings: Annotated[tuple[str, ...], PERSON_ONLY] = ()
    dry_run: Annotated[bool, PERSON_ONLY] = False
    pending: Annotated[int, PERSON_ONLY] = 0
    """Passages that do not have a vector yet."""
    note: Annotated[str, PERSON_ONLY] = ""


def mine(context: Context, request: MineFilesRequest) -> MineResult:
    """Index files and transcripts, byte for byte. Unchanged files are skipped.

    In a project, only its documentation is read; transcripts are read wherever they are. Keyword search finds the text
    at once, search by meaning as soon as its vectors are computed.
    """
    from palazzo.git.git_authors import commit_authors
    from palazzo.sources.discovery import existing
    from palazzo.sources.mining_run import mine as run

    mine_request = _request(context, request)
    if request.mode == "docs" and mine_request.wanted.chooses:
        context.notice(
            "--since, --session and --min-messages select conversations; documents are read when they have changed."
        )
    if request.dry_run:
        database = context.reading().database if context.has_palace else None
        return MineResult(
            **build_result_fields(run(database, lambda: context.now, mine_request, relay(context))), dry_run=True
        )
    for path in mine_request.paths:
        existing(path)  # before a palace is made for what is not there
    palace = context.writing()
    try:
        report = run(palace.database, palace.clock, mine_request, relay(context))
        if context.settings.flag("entities"):
            palace.know_people(name for path in mine_request.paths if path.is_dir() for name in commit_authors(path))
        note, seconds = embed_now(context) if request.wait else ("", 0.0)
    finally:  # also when it was interrupted: what was read so far is kept, and wants its vectors
        if not request.wait:
            start_embedding(context)
    fields = build_result_fields(report, embedding_s=seconds)
    return MineResult(**fields, pending=count_pending(context), note=note)


def _request(context: Context, request: MineFilesRequest) -> MineRequest:
    from palazzo.operations.arguments import moment, place_name
    from palazzo.sources.conversation_filter import SessionFilter
    from palazzo.sources.mining_report import MineRequest

    own = load(context.settings_file, None, context.variables)  # mining reads each project's own file itself
    return MineRequest(
        paths=tuple(context.led_to(path) for path in request.paths),
        mode=request.mode,
        wing=wing_named(context, request.wing),
        room=None if request.room is None else place_name("--room", request.room),
        include=request.include,
        exclude=(*request.exclude, *own.texts("mine.exclude")),
        gitignore=request.gitignore,
        dry_run=request.dry_run,
        policy="all" if own.text("mine.policy") == "all" else "docs",
        wanted=SessionFilter(
            since=moment(request.since, context.now, "--since"),
            sessions=request.sessions,
            least_messages=request.min_messages or 0,
            skip_directories=excluded_directories(context, own),
        ),
        is_stated=True,
    )


def wing_named(context: Context, name: str | None) -> str | None:
    """Return the current name of the wing that a person named for all files; UsageError for an invalid name."""
    from palazzo.operations.arguments import place_name, where_it_leads

    return None if name is None else where_it_leads(context, place_name("--wing", name))[0]


def relay(context: Context) -> OnProgress:
    """Return a callback that reports the progress of mining."""

    def on_progress(progress: MineProgress) -> None:
        context.report("reading", progress.done, progress.total, count_noun(progress.items, "item"))

    return on_progress


def embed_now(context: Context) -> tuple[str, float]:
    """Compute pending vectors; return why they cannot be computed (or an empty text), and the seconds that it took."""
    began, note = time.monotonic(), ""
    try:
        context.writing().embed_pending(lambda done, total: context.report("embedding", done, total))
        note_success(EMBEDDING_ACTIVITY, context.variables)
    except EmbedderUnavailable as error:
        note = str(error)
    return note, round(time.monotonic() - began, 3)


def count_pending(context: Context) -> int:
    """Return how many passages wait for a vector."""
    from palazzo.store import vector_rows

    with context.reading().database.snapshot() as connection:
        return vector_rows.count_pending(connection)


def build_result_fields(report: MineReport, embedding_s: float = 0.0) -> dict[str, Any]:
    """Return a report, and the seconds that computing vectors took after it, as fields of a result."""
    same = ("sources", "new", "grown", "unchanged", "items", "drawers", "rows", "noise", "repeated")
    return {
        **{name: getattr(report, name) for name in (*same, "unreadable", "left_out", "taken_back", "wings")},
        "skipped": tuple(SkippedFile(file.uri, file.reason) for file in report.skipped),
        "unread": tuple(SkippedFile(file.uri, file.reason) for file in report.unread),
        "failed": tuple(FailedFile(file.uri, file.error) for file in report.failed),
        "files": tuple(FileView(**dataclasses.asdict(file)) for file in report.files),
        "took_s": round(report.took_s + embedding_s, 3),
        "embedding_s": embedding_s,
    }


def all_failed(result: MineResult) -> bool:
    """Return whether there was something to read, and none of it could be read."""
    return bool(result.failed) and len(result.failed) == result.sources


IGNORED_OPTIONS = ("--no-repair",)
"""Options of scripts that mine with MemPalace. They ask not to repair its index; ours is always derived from the
archive.
"""

OPERATION = Operation(
    "mine",
    MineFilesRequest,
    MineResult,
    mine,
    scope="admin",
    writes=True,
    steps=True,
    failed=all_failed,
    ignored_options=IGNORED_OPTIONS,
    examples=("palazzo mine docs", "palazzo mine ~/exports/chatgpt.zip --mode convos --dry-run"),
)
