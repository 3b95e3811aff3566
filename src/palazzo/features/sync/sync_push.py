"""sync push: send new content of this device to the remotes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.sync.contract import PushedView, SyncPushRequest, SyncPushResult
from palazzo.features.sync.remote_access import connect_remote, one_at_a_time, select_remotes
from palazzo.sync import push

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.remote_rows import RemoteRow
    from palazzo.sync.push_delta import PushReport


def sync_push(context: Context, request: SyncPushRequest) -> SyncPushResult:
    """Push new records to a remote. Private records and those with secrets stay; 'palazzo sync status' lists them."""
    select_remotes(context, request.remote)
    with one_at_a_time(context):
        remotes = select_remotes(
            context, request.remote
        )  # as they are by now: whoever was waited for may have changed them
        return SyncPushResult(request.dry_run, tuple(push_to(context, remote, request.dry_run) for remote in remotes))


def push_to(context: Context, remote: RemoteRow, dry_run: bool = False) -> PushedView:
    """Push new records to one remote; the caller holds the sync lock."""
    at = connect_remote(context, remote)
    push_result: PushReport = push.push(
        at.database,
        remote,
        at.transport,
        at.palace,
        at.device,
        context.writing().clock,
        cipher=at.key,
        device_name=at.device_name,
        dry_run=dry_run,
        progress=context.report,
    )
    return PushedView(
        remote.name,
        dict(sorted(push_result.records.items())),
        dict(sorted(push_result.withheld.items())),
        dict(sorted(push_result.kept.items())),
        push_result.segments,
        push_result.bytes,
        push_result.anew,
        push_result.epoch,
    )
