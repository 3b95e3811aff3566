"""sync now: pull, then push."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.sync.contract import SyncNowRequest, SyncNowResult
from palazzo.features.sync.remote_access import one_at_a_time, select_remotes
from palazzo.features.sync.sync_pull import finish, pull_from
from palazzo.features.sync.sync_push import push_to

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def sync_now(context: Context, request: SyncNowRequest) -> SyncNowResult:
    """Pull other devices' records from a remote, then push what is new here: 'pull' and 'push' in one."""
    select_remotes(context, request.remote)
    with one_at_a_time(context):
        pull_views = tuple(pull_from(context, remote) for remote in select_remotes(context, request.remote))
        removed, mend = finish(context)
        push_views = tuple(push_to(context, remote) for remote in select_remotes(context, request.remote))
    return SyncNowResult(pull_views, push_views, removed, mend)
