"""sync pull: fetch what other devices have pushed to the remotes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.erase.erase import clear
from palazzo.features.service.background_process import start_embedding
from palazzo.features.sync.contract import PulledView, SyncPullRequest, SyncPullResult
from palazzo.features.sync.remote_access import connect_remote, one_at_a_time, select_remotes
from palazzo.knowledge import conflict_detection
from palazzo.store import tombstones
from palazzo.sync import pull

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.remote_rows import RemoteRow
    from palazzo.sync.pull import PullOutcome


def sync_pull(context: Context, request: SyncPullRequest) -> SyncPullResult:
    """Pull the records and the erasures of other devices from a remote."""
    select_remotes(context, request.remote)
    with one_at_a_time(context):
        remotes = select_remotes(
            context, request.remote
        )  # as they are by now: whoever was waited for may have changed them
        views = tuple(pull_from(context, remote, request.dry_run) for remote in remotes)
        removed, mend = ((), ()) if request.dry_run else finish(context)
    return SyncPullResult(request.dry_run, views, removed, mend)


def pull_from(context: Context, remote: RemoteRow, dry_run: bool = False) -> PulledView:
    """Pull from one remote; the caller holds the sync lock, and calls `finish` at the end."""
    at = connect_remote(context, remote)
    palace = context.writing()
    pull_result: PullOutcome = pull.pull(
        at.database,
        remote,
        at.transport,
        at.palace,
        at.device,
        palace.clock,
        palace.machine_clock,
        cipher=at.key,
        dry_run=dry_run,
        progress=context.report,
    )
    if pull_result.conflicts and not dry_run:  # what dismisses one may have come with it
        with at.database.snapshot() as connection:
            stand = {entry.uid for entry, stands in conflict_detection.list_conflicts(connection) if stands}
        pull_result.conflicts = [entry for entry in pull_result.conflicts if entry in stand]
    names = pull.names_of(at.database)
    skews = [skew.sentence(names.get(device, "")) for device, skew in sorted(pull_result.skews.items())]
    forks = [
        f"Two palaces have written to the chain of device {names.get(entry) or entry[:8]}: one is a copy of the "
        f"other; run 'palazzo sync init {at.transport.address} --new-device' in one of them."
        for entry in sorted(pull_result.forks)
    ]
    return PulledView(
        remote.name,
        tuple(sorted(pull_result.devices)),
        pull_result.segments,
        pull_result.bytes,
        dict(sorted(pull_result.added.items())),
        dict(sorted(pull_result.changed.items())),
        tuple(pull_result.conflicts),
        pull_result.erasure_count,
        pull_result.missing,
        (*skews, *forks, *(pull_result.lag_reasons[entry] for entry in sorted(pull_result.lag_reasons))),
        tuple(sorted(pull_result.variants)),
        tuple(pull_result.unreadable),
    )


def finish(context: Context) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Clear from this machine's files what other devices erased, and start computing vectors for new text."""
    with context.writing().database.snapshot() as connection:
        has_pending_erasures = bool(tombstones.find_pending_erasures(connection))
    removed: tuple[str, ...] = ()
    files_to_mend: tuple[str, ...] = ()
    if has_pending_erasures:
        _, trace_result, backups = clear(context)
        removed, files_to_mend = trace_result.removed, (*trace_result.remaining, *backups.left)
    start_embedding(context)
    return removed, files_to_mend
