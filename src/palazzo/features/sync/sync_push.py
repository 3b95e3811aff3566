"""sync push: send new content of this device to the remotes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.remote_rows import RemoteRow
    from palazzo.sync.push_delta import PushReport


@dataclass(frozen=True, slots=True)
class SyncPushRequest:
    """The remote to push to, and whether this is a dry run."""

    remote: Annotated[str | None, About("The remote's name. Default: all remotes.", positional=True)] = None
    dry_run: Annotated[bool, About("Only show what would be pushed.")] = False


@dataclass(frozen=True, slots=True)
class PushedView:
    """What was pushed to one remote (or would be): records by kind, and what was kept back.

    `withheld` counts, by reason (`private`, `filtered`, `secret`), the items of which only the link was pushed, and
    `kept` counts, by kind, the records that were not pushed. `anew` says that everything was pushed again, as after an
    erase.
    """

    remote: str
    records: dict[str, int]
    withheld: dict[str, int]
    kept: dict[str, int]
    segments: int
    bytes: int
    anew: bool
    epoch: int


@dataclass(frozen=True, slots=True)
class SyncPushResult:
    """What was pushed to each remote."""

    dry_run: bool
    remotes: tuple[PushedView, ...]


def sync_push(context: Context, request: SyncPushRequest) -> SyncPushResult:
    """Push new records to a remote. Private records and those with secrets stay; 'palazzo sync status' lists them.

    Old segments stay unchanged, except after an erase: then everything is pushed again, and the earlier segments are
    removed.
    """
    from palazzo.features.sync.remote_access import one_at_a_time, select_remotes

    select_remotes(context, request.remote)
    with one_at_a_time(context):
        remotes = select_remotes(
            context, request.remote
        )  # as they are by now: whoever was waited for may have changed them
        return SyncPushResult(request.dry_run, tuple(push_to(context, remote, request.dry_run) for remote in remotes))


def push_to(context: Context, remote: RemoteRow, dry_run: bool = False) -> PushedView:
    """Push new records to one remote; the caller holds the sync lock."""
    from palazzo.features.sync.remote_access import connect_remote
    from palazzo.sync import push

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


OPERATION = Operation(
    "sync_push",
    SyncPushRequest,
    SyncPushResult,
    sync_push,
    scope="admin",
    writes=True,
    steps=True,
    examples=("palazzo sync push --dry-run",),
)
