"""mine: index files and transcripts."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any

from palazzo.errors import EmbedderUnavailable
from palazzo.features.mining.contract import FailedFile, FileView, MineFilesRequest, MineResult, SkippedFile
from palazzo.features.service.background_process import EMBEDDING_ACTIVITY, note_success, start_embedding
from palazzo.git.git_authors import commit_authors
from palazzo.git.project_identity import project_root
from palazzo.operations.arguments import moment, place_name, where_it_leads
from palazzo.operations.watched_sources import excluded_directories
from palazzo.settings import load
from palazzo.sources import git_history
from palazzo.sources.conversation_filter import SessionFilter
from palazzo.sources.discovery import existing
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine as run
from palazzo.sources.source_places import Placer
from palazzo.store import vector_rows
from palazzo.text.count_phrases import count_noun

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.sources.mining_report import MineProgress, MineReport, OnProgress
    from palazzo.store.database import Database


def mine(context: Context, request: MineFilesRequest) -> MineResult:
    """Index files and transcripts, byte for byte. Unchanged files are skipped."""
    mine_request = _request(context, request)
    if request.mode == "docs" and mine_request.wanted.chooses:
        context.notice(
            "--since, --session and --min-messages select conversations; documents are read when they have changed."
        )
    if request.dry_run:
        database = context.reading().database if context.has_palace else None
        fields = build_result_fields(run(database, lambda: context.now, mine_request, relay(context)))
        return MineResult(**fields, commits=_mine_git(context, request, mine_request, database), dry_run=True)
    for path in mine_request.paths:
        existing(path)  # before a palace is made for what is not there
    palace = context.writing()
    try:
        report = run(palace.database, palace.clock, mine_request, relay(context))
        commits = _mine_git(context, request, mine_request, palace.database)
        if context.settings.flag("entities"):
            palace.know_people(name for path in mine_request.paths if path.is_dir() for name in commit_authors(path))
        note, seconds = embed_now(context) if request.wait else ("", 0.0)
    finally:  # also when it was interrupted: what was read so far is kept, and wants its vectors
        if not request.wait:
            start_embedding(context)
    fields = build_result_fields(report, embedding_s=seconds)
    return MineResult(
        **fields, commits=commits, pending=count_pending(context), note=note, directories=report.directories
    )


def _mine_git(context: Context, request: MineFilesRequest, mine_request: MineRequest, database: Database | None) -> int:
    """Archive the history of each directory's repository, if that was requested; return how much of it is new."""
    if not request.git:
        return 0
    placer = Placer(database, mine_request.wing, mine_request.room)
    count = 0
    for path in mine_request.paths:
        root = project_root(path if path.is_dir() else path.parent)
        report = git_history.mine_git(database, root, placer, mine_request.room, context.now, request.dry_run)
        if not report.is_read:
            context.notice(f"--git: git lists no history for {root}.")
        count += report.new
        context.report("reading commits", report.found, report.found, count_noun(report.new, "new commit"))
    return count


def _request(context: Context, request: MineFilesRequest) -> MineRequest:
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
    with context.reading().database.snapshot() as connection:
        return vector_rows.count_pending(connection)


def build_result_fields(report: MineReport, embedding_s: float = 0.0) -> dict[str, Any]:
    """Return a report, and the seconds that computing vectors took after it, as fields of a result."""
    same = ("sources", "new", "grown", "unchanged", "items", "drawers", "rows", "noise", "repeated")
    return {
        **{
            name: getattr(report, name)
            for name in (*same, "unreadable", "left_out", "taken_back", "code_skipped", "wings")
        },
        "skipped": tuple(SkippedFile(file.uri, file.reason) for file in report.skipped),
        "unread": tuple(SkippedFile(file.uri, file.reason) for file in report.unread),
        "failed": tuple(FailedFile(file.uri, file.error) for file in report.failed),
        "files": tuple(FileView(**dataclasses.asdict(file)) for file in report.files),
        "took_s": round(report.took_s + embedding_s, 3),
        "embedding_s": embedding_s,
    }
