"""sync now: pull, then push."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.features.sync.sync_pull import PulledView
from palazzo.features.sync.sync_push import PushedView
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class SyncNowRequest:
    """The remote to sync with."""

    remote: Annotated[str | None, About("The remote's name. Default: all remotes.", positional=True)] = None


@dataclass(frozen=True, slots=True)
class SyncNowResult:
    """What was pulled from and pushed to each remote, and other files that held what another device erased."""

    pulled: tuple[PulledView, ...]
    pushed: tuple[PushedView, ...]
    removed: tuple[str, ...] = ()
    mend: tuple[str, ...] = ()


def sync_now(context: Context, request: SyncNowRequest) -> SyncNowResult:
    """Pull other devices' records from a remote, then push what is new here: 'pull' and 'push' in one."""
    from palazzo.features.sync.remote_access import one_at_a_time, select_remotes
    from palazzo.features.sync.sync_pull import finish, pull_from
    from palazzo.features.sync.sync_push import push_to

    select_remotes(context, request.remote)
    with one_at_a_time(context):
        pull_views = tuple(pull_from(context, remote) for remote in select_remotes(context, request.remote))
        removed, mend = finish(context)
        push_views = tuple(push_to(context, remote) for remote in select_remotes(context, request.remote))
    return SyncNowResult(pull_views, push_views, removed, mend)


OPERATION = Operation(
    "sync_now",
    SyncNowRequest,
    SyncNowResult,
    sync_now,
    scope="admin",
    writes=True,
    steps=True,
    examples=("palazzo sync now",),
)
