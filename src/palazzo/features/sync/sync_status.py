"""sync status: show the state of the remotes, and what is not sent to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.features.sync.sync_private import MergedPrivate, list_private_wings
from palazzo.model import Micros
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.remote_rows import RemoteRow


@dataclass(frozen=True, slots=True)
class SyncStatusRequest:
    """The remote, and whether to contact it."""

    remote: Annotated[str | None, About("The remote's name. Default: all remotes.", positional=True)] = None
    look: Annotated[bool, About("Also contact the remote, and show what has arrived there.")] = False


@dataclass(frozen=True, slots=True)
class DeviceStatus:
    """Another device: its id, its name, and the time, by its clock, of the latest record that arrived here.

    `words` are those of its key, `may` its rights, as in 'palazzo sync devices'.
    """

    id: str
    name: str
    seen_at: Micros
    words: str = ""
    may: str = "erase"


@dataclass(frozen=True, slots=True)
class RefusalView:
    """The reason why the last pull from a remote refused a device's segments, or some of its records."""

    remote: str
    device: str
    reason: str
    at: Micros


@dataclass(frozen=True, slots=True)
class WithheldItem:
    """An item of which only the link was pushed, and the reason.

    `private`; `filtered`: its wing is excluded from the remote; `secret`: it contains a secret; `large`.
    """

    item: str
    why: str


@dataclass(frozen=True, slots=True)
class RemoteStatus:
    """A remote. `waiting` counts the items that the next push would send, `other_news` the other records.

    If there is too much to examine quickly, `waiting` includes items that will be kept back, and `other_news` is null.
    `to_pull` counts the segments that are not here (with --look). `failure` is the reason why the service's last
    attempt failed; null if it did not.
    """

    name: str
    address: str
    sealing: Literal["", "passphrase", "key"]
    wings: tuple[str, ...]
    automatic: bool
    pushed_at: Micros | None
    pulled_at: Micros | None
    waiting: int
    other_news: int | None
    erased_there: bool
    """Whether content that was erased here may still be there, until the next push."""
    to_pull: int | None
    failure: str | None
    failed_at: Micros | None
    devices: tuple[DeviceStatus, ...]
    withheld: tuple[WithheldItem, ...]

    @property
    def to_push(self) -> int:
        """Return how many items and other records the next push would send, as far as they were counted."""
        return self.waiting + (self.other_news or 0)


@dataclass(frozen=True, slots=True)
class SyncStatusResult:
    """This device, its remotes, the wings that are never pushed, and the number of open conflicts."""

    palace: str
    device: str
    name: str
    remotes: tuple[RemoteStatus, ...]
    private_wings: tuple[str, ...]
    conflicts: int
    merged_private: tuple[MergedPrivate, ...] = ()
    """Private wings that are part of another wing, which is therefore not pushed either."""
    words: str = ""
    """The words of this device's key: compare them with the words that another device shows for it."""
    refused: tuple[RefusalView, ...] = ()


def sync_status(context: Context, request: SyncStatusRequest) -> SyncStatusResult:
    """Show the state of the remotes, what waits to be pushed, and what is not pushed, with the reason.

    Conflicts are facts of two devices that cannot both hold: 'palazzo kg conflicts' shows them.
    """
    from palazzo.features.sync.remote_access import connect_remote, select_remotes
    from palazzo.knowledge import conflict_detection
    from palazzo.security.device_keys import fingerprint
    from palazzo.store import device_rows, remote_rows
    from palazzo.sync import device_pairing

    with context.reading().database.snapshot() as connection:
        any_remotes = bool(remote_rows.remotes(connection))
    remotes = select_remotes(context, request.remote) if any_remotes or request.remote else []
    new = {remote.row: _new(connect_remote(context, remote)) for remote in remotes} if request.look else {}
    with context.reading().database.snapshot() as connection:
        private, merged = list_private_wings(connection)
        own = device_pairing.device_id(connection)
        row = device_rows.row(connection, own)
        return SyncStatusResult(
            device_pairing.palace_id(connection),
            device_pairing.device_id(connection).hex(),
            device_pairing.device_name(connection),
            tuple(_status(connection, remote, new.get(remote.row)) for remote in remotes),
            private,
            sum(stands for _, stands in conflict_detection.list_conflicts(connection)),
            merged,
            "" if row is None else fingerprint(row.public_key),
            tuple(
                RefusalView(refusal.remote, refusal.device.hex(), refusal.reason, refusal.at)
                for refusal in device_rows.refusals(connection)
            ),
        )


def _new(at: object) -> int:
    from palazzo.features.sync.remote_access import RemoteSession
    from palazzo.sync import pull

    assert isinstance(at, RemoteSession)  # noqa: S101 - named late, so that no library is loaded for a status
    return pull.count_new(at.database, at.remote, at.transport, at.device)


def _status(connection: Connection, remote: RemoteRow, new: int | None) -> RemoteStatus:
    from palazzo.security.device_keys import fingerprint
    from palazzo.store import device_rows as sync_devices
    from palazzo.store import remote_rows, tombstones
    from palazzo.sync import push
    from palazzo.sync.remotes.git_transport import without_password

    rows = sync_devices.rows(connection)
    device_rows = remote_rows.devices(connection)
    names = {uid: name for _, uid, name in device_rows}
    own = device_rows[0][1]
    pending_counts = push.count_pending(connection, remote, own)
    heads_by_device = remote_rows.read_last_segments(connection, remote.row)
    peer_ids = [uid for uid in sorted(heads_by_device) if uid not in (own, b"")]
    return RemoteStatus(
        remote.name,
        without_password(remote.address),
        remote.sealing,
        remote.wings,
        remote.automatic,
        remote.pushed_at,
        remote.pulled_at,
        pending_counts.items,
        pending_counts.others,
        own in heads_by_device and tombstones.newest_erasure(connection) > remote.erasure,
        new,
        remote.failure or None,
        remote.failed_at,
        tuple(
            DeviceStatus(
                uid.hex(),
                names.get(uid, ""),
                heads_by_device[uid].at,
                fingerprint(rows[uid].public_key) if uid in rows else "",
                rows[uid].may if uid in rows else "",
            )
            for uid in peer_ids
        ),
        tuple(WithheldItem(item.hex(), why) for item, why in remote_rows.withheld_items(connection, remote.row)),
    )


OPERATION = Operation(
    "sync_status",
    SyncStatusRequest,
    SyncStatusResult,
    sync_status,
    scope="read",
    examples=("palazzo sync status --look",),
)
