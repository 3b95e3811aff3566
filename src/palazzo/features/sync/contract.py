"""Requests, results and operations of `sync`: what faces know of the feature, without its engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.operations.operation import About, Operation

PASSPHRASE = "PALAZZO_SYNC_PASSPHRASE"  # noqa: S105 - the name of a variable


@frozen
class SyncInitRequest:
    """Connect this palace with your other devices through a remote: a folder, or a branch of a git repository.

    The first device sets up the remote; the others join the same palace there, with the key that the first device
    saved, or with the passphrase of a sealed remote. Only records go there; 'palazzo sync push' and 'pull' transfer
    them.
    """

    address: Annotated[
        str,
        About(
            "A directory that another program carries between machines, any address that git accepts, or a remote of "
            "the current repository.",
            positional=True,
        ),
    ]
    name: Annotated[str | None, About("The remote's name, if there are several. Default: 'default'.")] = None
    wings: Annotated[
        tuple[str, ...],
        About(
            "Sync only this wing there; may be given several times. Default for a known remote: its current wings.",
            option="--wing",
        ),
    ] = ()
    seal: Annotated[
        Literal["no", "passphrase", "key"] | None,
        About("Seal (encrypt) the remote's content, by a passphrase or by a key file. The first device decides."),
    ] = None
    passphrase: Annotated[
        str | None,
        About(
            f"Read the passphrase from this file, or from standard input with -; otherwise from {PASSPHRASE}.",
            option="--passphrase-file",
            metavar="FILE",
            file=True,
            may_be_bytes=True,
        ),
    ] = None
    key: Annotated[Path | None, About("The key file that the first device saved.", metavar="FILE")] = None
    save_key: Annotated[
        Path | None, About("Write the key that other devices need to join to this new file.", metavar="FILE")
    ] = None
    automatic: Annotated[bool, About("Let the background service sync automatically.")] = False
    again: Annotated[
        bool, About("Start again with a remote that was emptied or restored: push everything, read everything.")
    ] = False
    new_device: Annotated[bool, About("Make this palace, a copy of another one, a device of its own from now on.")] = (
        False
    )


@frozen
class SyncInitResult:
    """The remote, whether it was created here or another palace was joined, this device, and where the key is saved."""

    name: str
    address: str
    kind: Literal["folder", "git"]
    sealing: Literal["", "passphrase", "key"]
    palace: str
    device: str
    begun: bool
    joined: bool
    new_device: bool
    key_file: str | None
    key_needed: bool
    """Whether other devices need the key file, because the key is not on the remote."""


# Never keyed: a keyed call keeps what it was asked, and that may be a passphrase.
SYNC_INIT = Operation(
    "sync_init",
    SyncInitRequest,
    SyncInitResult,
    scope="admin",
    writes=True,
    steps=True,
    examples=(
        "palazzo sync init ~/Dropbox/palace",
        "palazzo sync init git@example.org:ada/palace.git --seal passphrase",
    ),
)


@frozen
class SyncNowRequest:
    """Pull other devices' records from a remote, then push what is new here: 'pull' and 'push' in one."""

    remote: Annotated[str | None, About("The remote's name. Default: all remotes.", positional=True)] = None


@frozen
class SyncPushRequest:
    """Push new records to a remote. Private records and those with secrets stay; 'palazzo sync status' lists them.

    Old segments stay unchanged, except after an erase: then everything is pushed again, and the earlier segments are
    removed.
    """

    remote: Annotated[str | None, About("The remote's name. Default: all remotes.", positional=True)] = None
    dry_run: Annotated[bool, About("Only show what would be pushed.")] = False


@frozen
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


@frozen
class SyncPushResult:
    """What was pushed to each remote."""

    dry_run: bool
    remotes: tuple[PushedView, ...]


SYNC_PUSH = Operation(
    "sync_push",
    SyncPushRequest,
    SyncPushResult,
    scope="admin",
    writes=True,
    steps=True,
    examples=("palazzo sync push --dry-run",),
)


@frozen
class SyncPullRequest:
    """Pull the records and the erasures of other devices from a remote.

    Nothing here is overwritten: where two devices differ, both versions are kept, and shown as a conflict.
    """

    remote: Annotated[str | None, About("The remote's name. Default: all remotes.", positional=True)] = None
    dry_run: Annotated[bool, About("Only show what would be pulled.")] = False


@frozen
class PulledView:
    """What was pulled from one remote (or would be): the devices, and the effects of merging, by kind of record.

    `conflicts` are the ids of new conflicts between facts, as in 'palazzo kg conflicts'. `erased` is how many erasures
    of other devices were carried out here, `missing` how many records refer to something that no device has sent yet.
    `notes` are sentences about devices: those with a wrong clock, and those whose records have not all arrived yet.
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
    """Ids of items whose text differs between here and there: the text here was kept."""
    unreadable: tuple[str, ...] = ()
    """Ids of devices whose newest records could not be read; `notes` say why."""


@frozen
class SyncNowResult:
    """What was pulled from and pushed to each remote, and other files that held what another device erased."""

    pulled: tuple[PulledView, ...]
    pushed: tuple[PushedView, ...]
    removed: tuple[str, ...] = ()
    mend: tuple[str, ...] = ()


SYNC_NOW = Operation(
    "sync_now",
    SyncNowRequest,
    SyncNowResult,
    scope="admin",
    writes=True,
    steps=True,
    failed=lambda result: any(view.unreadable for view in result.pulled),
    examples=("palazzo sync now",),
)


@frozen
class SyncPullResult:
    """What was pulled from each remote, and files outside the palace that held what another device erased."""

    dry_run: bool
    remotes: tuple[PulledView, ...]
    removed: tuple[str, ...] = ()
    """Files that were deleted."""
    mend: tuple[str, ...] = ()
    """The user's own files that still hold it."""


SYNC_PULL = Operation(
    "sync_pull",
    SyncPullRequest,
    SyncPullResult,
    scope="admin",
    writes=True,
    steps=True,
    failed=lambda result: any(view.unreadable for view in result.remotes),
    examples=("palazzo sync pull",),
)


@frozen
class SyncStatusRequest:
    """Show the state of the remotes, what waits to be pushed, and what is not pushed, with the reason.

    Conflicts are facts of two devices that cannot both hold: 'palazzo kg conflicts' shows them.
    """

    remote: Annotated[str | None, About("The remote's name. Default: all remotes.", positional=True)] = None
    look: Annotated[bool, About("Also contact the remote, and show what has arrived there.")] = False


@frozen
class DeviceStatus:
    """Another device: its id, its name, and the time, by its clock, of the latest record that arrived here.

    `words` are those of its key, `may` its rights, as in 'palazzo sync devices'.
    """

    id: str
    name: str
    seen_at: Micros
    words: str = ""
    may: str = "erase"


@frozen
class RefusalView:
    """The reason why the last pull from a remote refused a device's segments, or some of its records."""

    remote: str
    device: str
    reason: str
    at: Micros


@frozen
class WithheldItem:
    """An item of which only the link was pushed, and the reason.

    `private`; `filtered`: its wing is excluded from the remote; `secret`: it contains a secret; `large`.
    """

    item: str
    why: str


@frozen
class RemoteStatus:
    """A remote. `waiting` counts the items that the next push would send, `other_news` the other records.

    If there is too much to examine quickly, `waiting` includes items that will be kept back, and `other_news` is null.
    `to_pull` counts the segments that are not here (with --look). `failure` is the reason why the service's last
    attempt failed, or why the last pull was incomplete; null if neither.
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


@frozen
class SyncPrivateRequest:
    """Keep wings on this machine: nothing in them goes to any remote, and what was ever in one stays here.

    A wing can be made private before anything is filed in it and before a remote exists. Renaming it keeps it private.
    What went to a remote before stays there, and on the devices that pulled it; 'palazzo erase' also erases it there.
    If a wing was merged while it was private, the other one also stays here, until either is made --public.
    """

    wings: Annotated[
        tuple[str, ...],
        About(
            "Names of wings, which need not exist yet. Without a name, the private wings are listed.",
            positional=True,
            option="WING",
        ),
    ] = ()
    public: Annotated[bool, About("Let the wings leave this machine again, with the next push.")] = False


@frozen
class MergedPrivate:
    """A private wing that is part of another: therefore that wing is not pushed either."""

    wing: str
    into: str


@frozen
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


SYNC_STATUS = Operation(
    "sync_status",
    SyncStatusRequest,
    SyncStatusResult,
    scope="read",
    examples=("palazzo sync status --look",),
)


@frozen
class SyncPrivateResult:
    """The wings that are never pushed, and those of which something was pushed before."""

    private: tuple[str, ...]
    left_already: tuple[str, ...] = ()
    """The given wings of which something was pushed to a remote before."""
    merged: tuple[MergedPrivate, ...] = ()
    """Private wings that are part of another; `private` has the others."""
    created: tuple[str, ...] = ()
    """The given wings that did not exist before."""


SYNC_PRIVATE = Operation(
    "sync_private",
    SyncPrivateRequest,
    SyncPrivateResult,
    scope="admin",
    writes=True,
    examples=("palazzo sync private diary-ada", "palazzo sync private"),
)

GrantableRight = Literal["add", "change", "erase"]


@frozen
class SyncDevicesRequest:
    """List the devices that write to this palace, trust one, or refuse everything new from one.

    A device that joins with the key file, or with the key or passphrase of a sealed remote, is trusted. Any other
    device waits: compare the words that this command shows on both devices, then trust it. All devices refuse what a
    forgotten device writes from then on, and earlier key files no longer introduce devices. What it has written before
    stays.
    """

    action: Annotated[
        Literal["list", "trust", "forget"],
        About("list, trust or forget.", positional=True),
    ] = "list"
    device: Annotated[str | None, About("The device to trust or to forget: its name or id.", positional=True)] = None
    may: Annotated[
        GrantableRight | None,
        About(
            "What a trusted device may do: add records; also change existing ones (forget, move, approve, rename, "
            "merge, undo); also erase, which is the default.",
        ),
    ] = None


@frozen
class SyncDevice:
    """A device: the words of its key, its rights, and when, by its clock, it wrote the latest record that arrived here.

    `words` is empty until it has signed. `may` is `nothing` for a device that was removed, and `waits` for one that has
    not been introduced by anyone.
    """

    id: str
    name: str
    words: str
    may: Literal["add", "change", "erase", "nothing", "waits"]
    heard_at: Micros | None
    is_this: bool
    refused: str | None
    """The reason why the last pull refused its segments, or some of its records."""


@frozen
class SyncDevicesResult:
    """The devices, this one first; and the device that was trusted or removed."""

    devices: tuple[SyncDevice, ...]
    trusted: str | None = None
    removed: str | None = None


SYNC_DEVICES = Operation(
    "sync_devices",
    SyncDevicesRequest,
    SyncDevicesResult,
    scope="admin",
    writes=True,
    steps=True,
    examples=("palazzo sync devices", "palazzo sync devices trust laptop --may change"),
)


@frozen
class SyncKeyRequest:
    """Save the key that another device needs to join this palace with 'palazzo sync init ADDRESS --key FILE'.

    It also introduces that device to the others. Protect it like a password, and delete it afterwards.
    """

    file: Annotated[Path, About("The new key file; only you can read it.", positional=True)]
    remote: Annotated[str | None, About("Save the key that opens this sealed remote, instead of the palace's key.")] = (
        None
    )


@frozen
class SyncKeyResult:
    """The file that the key was written to, and what it is the key of."""

    file: str
    of: str


SYNC_KEY = Operation(
    "sync_key",
    SyncKeyRequest,
    SyncKeyResult,
    scope="admin",
    writes=True,
    steps=True,
    examples=("palazzo sync key palace.key",),
)


@frozen
class SyncRemoveRequest:
    """Forget a remote. Its content stays there, and content that came from it stays here."""

    remote: Annotated[str, About("The name of the remote to forget.", positional=True)]


@frozen
class SyncRemoveResult:
    """The remote that was removed from this palace."""

    name: str
    address: str


SYNC_REMOVE = Operation(
    "sync_remove",
    SyncRemoveRequest,
    SyncRemoveResult,
    scope="admin",
    writes=True,
    examples=("palazzo sync remove default",),
)
