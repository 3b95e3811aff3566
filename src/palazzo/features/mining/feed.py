"""feed: find every agent's history on this machine, and take in new content."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from palazzo.errors import NotFound, UsageError
from palazzo.features.mining.contract import (
    FeedRequest,
    FeedResult,
    HistoryFed,
)
from palazzo.features.mining.mine import build_result_fields, count_pending, embed_now, wing_named
from palazzo.features.service.background_process import start_embedding
from palazzo.host_names import WITH_HISTORY
from palazzo.hosts.host_histories import display, histories
from palazzo.operations.arguments import moment
from palazzo.operations.pause_state import pauses
from palazzo.operations.watched_sources import excluded_directories
from palazzo.settings import load
from palazzo.sources.conversation_filter import SessionFilter
from palazzo.sources.mining_report import MineRequest, merged
from palazzo.sources.mining_run import mine as run
from palazzo.text.count_phrases import agree, count_noun

if TYPE_CHECKING:
    from palazzo.hosts.host_histories import History
    from palazzo.operations.context import Context
    from palazzo.sources.mining_report import MineProgress, MineReport, OnProgress

_BYTES_PER_SECOND = 3_000_000
"""The speed at which transcripts are archived and indexed on two cores, measured by `benchmarks/ingest.py`."""
_WORTH_TELLING = 5.0
"""The least expected duration, in seconds, that is announced to a person before the work starts."""


def feed(context: Context, request: FeedRequest) -> FeedResult:
    """Find every agent's history on this machine and index what is new, byte for byte."""
    began = time.monotonic()
    histories = _histories(context, request.hosts)
    wing = wing_named(context, request.wing)
    requests = {history: _request(context, request, history, wing) for history in histories}
    database = context.reading().database if context.has_palace else None
    previews = {
        history: run(database, lambda: context.now, replace(mine_request, dry_run=True))
        for history, mine_request in requests.items()
    }
    _check_sessions(request, previews.values())
    new_bytes = sum(preview.bytes for preview in previews.values())
    if request.dry_run or not any(preview.new + preview.grown + len(preview.failed) for preview in previews.values()):
        report = merged(list(previews.values()), time.monotonic() - began)
        seconds = new_bytes / _BYTES_PER_SECOND if request.dry_run else 0.0
        return FeedResult(
            **build_result_fields(report),
            dry_run=request.dry_run,
            histories=_fed(context, previews),
            estimate_s=seconds,
        )
    _tell(context, previews.values(), new_bytes)
    palace = context.writing()
    reports: dict[History, MineReport] = {}
    try:
        for history, mine_request in requests.items():
            reports[history] = run(palace.database, palace.clock, mine_request, _relay(context, history))
        note, seconds = embed_now(context) if request.wait else ("", 0.0)
    finally:  # also when it was interrupted: what was read so far is kept, and wants its vectors
        if not request.wait:
            start_embedding(context)
    return FeedResult(
        **build_result_fields(merged(list(reports.values()), time.monotonic() - began - seconds), seconds),
        pending=count_pending(context),
        note=note,
        histories=_fed(context, reports),
    )


def _histories(context: Context, hosts: tuple[str, ...]) -> tuple[History, ...]:
    for host in hosts:
        if host not in WITH_HISTORY:
            raise UsageError(f"Palazzo does not read the host '{host}'; it reads {', '.join(WITH_HISTORY)}.")
    return histories(context.variables, hosts, context.project_root)


def _request(context: Context, request: FeedRequest, history: History, wing: str | None) -> MineRequest:
    own = load(context.settings_file, None, context.variables)
    least = own.number("min_messages") if request.min_messages is None else request.min_messages
    return MineRequest(
        paths=(history.path,),
        mode="convos",
        wing=wing,
        exclude=own.texts("mine.exclude"),
        gitignore=False,
        wanted=SessionFilter(
            since=moment(request.since, context.now, "--since"),
            sessions=request.sessions,
            least_messages=0 if request.sessions else least,
            skip_directories=excluded_directories(context, own),
            pauses=pauses(context),
        ),
    )


def _check_sessions(request: FeedRequest, previews: Collection[MineReport]) -> None:
    if request.sessions and not any(preview.sources for preview in previews):
        prefixes = " or ".join(f"'{prefix}'" for prefix in request.sessions)
        raise NotFound(
            f"No session here has an id that begins with {prefixes}. 'palazzo feed --dry-run' lists the histories."
        )


def _tell(context: Context, previews: Collection[MineReport], new_bytes: int) -> None:
    seconds = new_bytes / _BYTES_PER_SECOND
    if seconds >= _WORTH_TELLING:
        changed = sum(preview.new + preview.grown for preview in previews)
        long = f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"
        extent = f"{count_noun(changed, 'session')} {agree(changed, 'is new or has', 'are new or have')} grown"
        context.notice(f"{extent}, {new_bytes / 1e6:,.0f} MB: about {long}.")


def _relay(context: Context, history: History) -> OnProgress:
    def on_progress(progress: MineProgress) -> None:
        context.report(history.host, progress.done, progress.total, count_noun(progress.items, "item"))

    return on_progress


def _fed(context: Context, reports: Mapping[History, MineReport]) -> tuple[HistoryFed, ...]:
    return tuple(
        HistoryFed(
            history.host,
            str(history.path),
            display(history.path, context.variables),
            report.sources,
            report.new,
            report.grown,
            report.unchanged,
            report.bytes,
            report.earliest,
            report.latest,
        )
        for history, report in reports.items()
    )
