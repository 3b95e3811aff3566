"""sync pull: take in what other devices have brought to remotes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.exchange.pulling import Pulled
    from palazzo.operations.context import Context
    from palazzo.store.syncing import RemoteRow


@dataclass(frozen=True, slots=True)
class SyncPullRequest:
    """Which remote, and whether to take anything in."""

    remote: Annotated[str | None, About("The remote's name; all remotes if left out.", positional=True)] = None
    dry_run: Annotated[bool, About("Only say what would come.")] = False


@dataclass(frozen=True, slots=True)
class PulledView:
    """What came from one remote, or would: from which devices, and what merging it did, by kind of record.

    `conflicts` are the ids of conflicts of facts that it found, as in 'palazzo kg conflicts'. `erased` is how many
    erasures of other devices were carried out here, `missing` how many records refer to what no device has told yet.
    `notes` are sentences about devices: whose clock is wrong, of which something has not arrived yet.
    """

    remote: str
    devices: tuple[str, ...]
    segments: int
    bytes: int
    added: dict[str, int]
    changed: dict[str, int]
    conflicts: tuple[str, ...]
    erased: int
    missing: int
    notes: tuple[str, ...]
    variants: tuple[str, ...] = ()
    """Ids of items whose text differs here and there: the text that is here was kept."""


@dataclass(frozen=True, slots=True)
class SyncPullResult:
    """What came from each remote; files besides the palace that held what another device erased."""

    dry_run: bool
    remotes: tuple[PulledView, ...]
    removed: tuple[str, ...] = ()
    """Files that are gone."""
    mend: tuple[str, ...] = ()
    """Files of yours that still hold it."""


def sync_pull(context: Context, request: SyncPullRequest) -> SyncPullResult:
    """Take in what other devices have brought to a remote, and what they have erased.

    Nothing here is overwritten: of what two devices say differently both is kept, and shown as a conflict.
    """
    from palazzo.operations.syncing import chosen, one_at_a_time

    chosen(context, request.remote)
    with one_at_a_time(context):
        remotes = chosen(context, request.remote)  # as they are by now: whoever was waited for may have changed them
        views = tuple(pull_from(context, one, request.dry_run) for one in remotes)
        removed, mend = ((), ()) if request.dry_run else finish(context)
    return SyncPullResult(request.dry_run, views, removed, mend)


def pull_from(context: Context, remote: RemoteRow, dry_run: bool = False) -> PulledView:
    """Take in what stands at one remote; the caller holds the right to sync, and calls `finish` at last."""
    from palazzo.exchange import pulling
    from palazzo.graph import conflicting
    from palazzo.operations.syncing import meeting

    at = meeting(context, remote)
    palace = context.writing()
    done: Pulled = pulling.pull(
        at.database,
        remote,
        at.transport,
        at.palace,
        at.device,
        palace.clock,
        palace.machine_clock,
        cipher=at.sealing,
        dry_run=dry_run,
        progress=context.report,
    )
    if done.conflicts and not dry_run:  # what dismisses one may have come with it
        with at.database.snapshot() as connection:
            stand = {one.uid for one, stands in conflicting.standing(connection) if stands}
        done.conflicts = [one for one in done.conflicts if one in stand]
    names = pulling.names_of(at.database)
    skews = [skew.sentence(names.get(device, "")) for device, skew in sorted(done.skews.items())]
    forks = [
        f"Two palaces have written to the chain of device {names.get(one) or one[:8]}: one is a copy of the other; run "
        f"'palazzo sync init {at.transport.address} --new-device' in one of them."
        for one in sorted(done.forked)
    ]
    return PulledView(
        remote.name,
        tuple(sorted(done.devices)),
        done.segments,
        done.bytes,
        dict(sorted(done.added.items())),
        dict(sorted(done.changed.items())),
        tuple(done.conflicts),
        done.erased,
        done.missing,
        (*skews, *forks, *(done.behind[one] for one in sorted(done.behind))),
        tuple(sorted(done.variants)),
    )


def finish(context: Context) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Clear this machine's files of what other devices erased, and have vectors made for what came."""
    from palazzo.operations.background import start_embedding
    from palazzo.operations.erase import clear
    from palazzo.store import tombstones

    with context.writing().database.snapshot() as connection:
        waiting = bool(tombstones.unfinished(connection))
    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    if waiting:
        _, traced, backups = clear(context)
        removed, left = traced.removed, (*traced.left, *backups.left)
    start_embedding(context)
    return removed, left


OPERATION = Operation("sync_pull", SyncPullRequest, SyncPullResult, sync_pull, writes=True, steps=True)
