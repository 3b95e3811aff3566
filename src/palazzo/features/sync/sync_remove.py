"""sync remove: remove a remote from this palace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class SyncRemoveRequest:
    """The remote to remove."""

    remote: Annotated[str, About("The name of the remote to forget.", positional=True)]


@dataclass(frozen=True, slots=True)
class SyncRemoveResult:
    """The remote that was removed from this palace."""

    name: str
    address: str


def sync_remove(context: Context, request: SyncRemoveRequest) -> SyncRemoveResult:
    """Forget a remote. Its content stays there, and content that came from it stays here."""
    from palazzo.features.sync.remote_access import forget_fetched, one_at_a_time, select_remotes
    from palazzo.store import remote_rows
    from palazzo.sync.remotes.git_transport import without_password

    (remote,) = select_remotes(context, request.remote)
    with one_at_a_time(context):
        with context.writing().database.transaction() as connection:
            remote_rows.drop_remote(connection, remote.row)
        forget_fetched(context, remote.uid)
    return SyncRemoveResult(remote.name, without_password(remote.address))


OPERATION = Operation(
    "sync_remove",
    SyncRemoveRequest,
    SyncRemoveResult,
    sync_remove,
    scope="admin",
    writes=True,
    examples=("palazzo sync remove default",),
)
