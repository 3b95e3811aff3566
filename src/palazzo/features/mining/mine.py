"""mine: read files into the palace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from palazzo.errors import EmbedderUnavailable
from palazzo.features.service.background_process import EMBEDDING_ACTIVITY, note_success, start_embedding
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.settings import Settings, load
from palazzo.text.count_phrases import count_noun

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.sources.mining_report import MineProgress, MineReport, MineRequest, OnProgress


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
    since: Annotated[
        str | None, About("Of conversations, only those gone on with from this time on: a date, or an age as 30d.")
    ] = None
    sessions: Annotated[
        tuple[str, ...],
        About("Of conversations, only that of this id; may be given several times.", False, "--session", "ID"),
    ] = ()
    min_messages: Annotated[int | None, About("Leave out conversations with fewer messages.")] = None
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
    rows: int = 0
    noise: int = 0
    repeated: int = 0
    unreadable: int = 0
    """Of the `rows` that were read each is an item, noise (archived and never searched), repeated (archived before),
    or unreadable (archived to the byte, and named in `skipped`)."""
    left_out: int = 0
    taken_back: int = 0
    """Documents that a rule leaves out now: retired, until the rule is gone; and those that it was gone for."""
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
    from palazzo.git.git_authors import commit_authors
    from palazzo.sources.discovery import existing
    from palazzo.sources.mining_run import mine as run

    mine_request = _request(context, request)
    if request.mode == "docs" and mine_request.wanted.chooses:
        context.notice(
            "--since, --session and --min-messages choose conversations; documents are read as they changed."
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
        note = embed_now(context) if request.wait else ""
    finally:  # also when it was interrupted: what was read so far is kept, and wants its vectors
        if not request.wait:
            start_embedding(context)
    return MineResult(**build_result_fields(report), pending=count_pending(context), note=note)


def excluded_directories(context: Context, settings: Settings) -> tuple[Path, ...]:
    """Return the directories of which the settings say that nothing is ever read."""
    home = Path(context.variables.get("HOME") or Path.home())
    return tuple(
        (home / entry[2:] if entry.startswith(("~/", "~\\")) else context.cwd / entry).resolve()
        for entry in settings.texts("mine.exclude_projects")
    )


def _request(context: Context, request: MineFilesRequest) -> MineRequest:
    from palazzo.features.notes.remember import place_name
    from palazzo.features.search.search import moment
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
    """Return the wing that a person named to file all of it in, as that is called now; UsageError for no name."""
    from palazzo.features.notes.remember import place_name, where_it_leads

    return None if name is None else where_it_leads(context, place_name("--wing", name))[0]


def relay(context: Context) -> OnProgress:
    """Return what tells whoever watches how far mining is."""

    def on_progress(progress: MineProgress) -> None:
        context.report("reading", progress.done, progress.total, count_noun(progress.items, "item"))

    return on_progress


def embed_now(context: Context) -> str:
    """Make the vectors that are pending; return why not, if they cannot be made."""
    try:
        context.writing().embed_pending(lambda done, total: context.report("embedding", done, total))
    except EmbedderUnavailable as error:
        return str(error)
    note_success(EMBEDDING_ACTIVITY, context.variables)
    return ""


def count_pending(context: Context) -> int:
    """Return how many passages wait for a vector."""
    from palazzo.store import vector_rows

    with context.reading().database.snapshot() as connection:
        return vector_rows.count_pending(connection)


def build_result_fields(report: MineReport) -> dict[str, Any]:
    """Return what a report says, as fields of a result."""
    same = ("sources", "new", "grown", "unchanged", "items", "drawers", "took_s", "rows", "noise", "repeated")
    return {
        **{name: getattr(report, name) for name in (*same, "unreadable", "left_out", "taken_back", "wings")},
        "skipped": tuple(SkippedFile(file.uri, file.reason) for file in report.skipped),
        "failed": tuple(FailedFile(file.uri, file.error) for file in report.failed),
    }


def all_failed(result: MineResult) -> bool:
    """Whether there was something to read, and none of it could be."""
    return bool(result.failed) and len(result.failed) == result.sources


IGNORED_OPTIONS = ("--no-repair",)
"""What scripts give that mine with MemPalace: its index may want repairing then, and ours follows from the archive."""

OPERATION = Operation(
    "mine",
    MineFilesRequest,
    MineResult,
    mine,
    writes=True,
    steps=True,
    failed=all_failed,
    ignored_options=IGNORED_OPTIONS,
)
