"""sync push: bring to remotes what is new here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.remote_rows import RemoteRow
    from palazzo.sync.push import PushReport


@dataclass(frozen=True, slots=True)
class SyncPushRequest:
    """Which remote, and whether to go there at all."""

    remote: Annotated[str | None, About("The remote's name; all remotes if left out.", positional=True)] = None
    dry_run: Annotated[bool, About("Only say what would go there.")] = False


@dataclass(frozen=True, slots=True)
class PushedView:
    """What went to one remote, or would: records by kind, and what stayed.

    `withheld` counts by reason (`private`, `filtered`, `secret`) the items of which the link alone is there, `kept` by
    kind the records that are not. `anew` says that all was told anew, as after an erase.
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
    """What went to each remote."""

    dry_run: bool
    remotes: tuple[PushedView, ...]


def sync_push(context: Context, request: SyncPushRequest) -> SyncPushResult:
    """Bring what is new here to a remote. What is private, or holds a secret, stays: 'palazzo sync status' lists it.

    Old segments stay as they are, but after an erase: then all is told anew, and what was told before is removed.
    """
    from palazzo.features.sync.remote_access import one_at_a_time, select_remotes

    select_remotes(context, request.remote)
    with one_at_a_time(context):
        remotes = select_remotes(
            context, request.remote
        )  # as they are by now: whoever was waited for may have changed them
        return SyncPushResult(request.dry_run, tuple(push_to(context, remote, request.dry_run) for remote in remotes))


def push_to(context: Context, remote: RemoteRow, dry_run: bool = False) -> PushedView:
    """Bring what is new to one remote; the caller holds the right to sync."""
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


OPERATION = Operation("sync_push", SyncPushRequest, SyncPushResult, sync_push, writes=True, steps=True)
