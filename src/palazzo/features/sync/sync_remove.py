"""sync remove: remove a remote from this palace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.sync.contract import SyncRemoveRequest, SyncRemoveResult
from palazzo.features.sync.remote_access import forget_fetched, one_at_a_time, select_remotes
from palazzo.store import remote_rows
from palazzo.sync.remotes.git_transport import without_password

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def sync_remove(context: Context, request: SyncRemoveRequest) -> SyncRemoveResult:
    """Forget a remote. Its content stays there, and content that came from it stays here."""
    (remote,) = select_remotes(context, request.remote)
    with one_at_a_time(context):
        with context.writing().database.transaction() as connection:
            remote_rows.drop_remote(connection, remote.row)
        forget_fetched(context, remote.uid)
    return SyncRemoveResult(remote.name, without_password(remote.address))
