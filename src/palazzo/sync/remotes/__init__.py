"""Remotes: where devices leave segments for one another. No server; a folder, or a branch of a git repository.

A remote is a set of files, each with one fixed writer: each device writes its own directory, and the first device
writes `palazzo.json`, which says which palace the segments belong to. So two devices never change the same file, and
nothing here knows the content of segments. `folder_remote` and `git_remote` implement the contract of `Remote`;
`remote_factory.open_remote` decides which of them an address means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Literal, Protocol

from palazzo.errors import DeviceCopied, RemoteRewritten
from palazzo.frozen_class import frozen
from palazzo.sync.segments import Head, Segment, SegmentName

ABOUT = "palazzo.json"
DEVICES = "devices"
HEAD = "head"
LARGEST_ABOUT = 1024 * 1024

Kind = Literal["folder", "git"]


@frozen
class RemoteState:
    """The content of a remote. `about` is `palazzo.json`, None on a remote that no palace uses yet.

    `names` are each device's segments, sorted, including those that no head names (yet, or any more); `damaged` says,
    by device, why its head cannot be read. Other files are left unchanged and are not reported.
    """

    about: bytes | None = None
    heads: Mapping[str, Head] = field(default_factory=dict)
    names: Mapping[str, tuple[SegmentName, ...]] = field(default_factory=dict)
    head_errors: Mapping[str, str] = field(default_factory=dict)


Ready = Callable[[Head], None]
"""Called with the head that is about to become visible to others, after everything before it was written. A caller that
stores it durably knows after a kill whether a head that it finds is its own. It may raise; then nothing becomes
visible.
"""


class Remote(Protocol):
    """A place where devices store segments.

    All calls raise RemoteUnusable, in one sentence, if it cannot be reached or written. One remote object is for one
    thread; processes of one palace take turns (the caller holds a lock).
    """

    @property
    def kind(self) -> Kind:
        """Return the kind of remote."""
        ...

    @property
    def address(self) -> str:
        """Return the address for messages: without a password."""
        ...

    def look(self) -> RemoteState:
        """Access the remote and return its current state."""
        ...

    def read(self, device: str, name: SegmentName) -> bytes:
        """Return a segment's bytes, as of the last `look`; `segments.read` checks them."""
        ...

    def introduce(self, about: bytes) -> bytes:
        """Write `palazzo.json` if there is none; return the current one, which may be another device's."""
        ...

    def push(
        self,
        segments: Iterable[Segment],
        *,
        expected: Head | None,
        ready: Ready,
        device_name: str = "",
        is_new_epoch: bool = False,
    ) -> Head | None:
        """Add a device's next segments and set its head to the last of them; return that head.

        `expected` is the head that this palace last put there for the device. Without segments, do nothing and return
        None. `is_new_epoch` removes the device's other segments in the same step: in a folder when the head has been
        written (`tidy` finishes this after a kill), in git so that no branch leads to them any more. Others see all
        of it or nothing. Raises DeviceCopied or RemoteRewritten if the device's head is not `expected`.
        """
        ...

    def tidy(self, head: Head) -> None:
        """Delete this device's segments that do not lead to its head `head`: an interrupted push left them."""
        ...


def refuse_other(address: str, device: str, remote_head: Head | None, expected: Head | None) -> None:
    """Raise unless a device's head on a remote is the one that its palace put there.

    Raise RemoteRewritten if it is gone or went back, DeviceCopied if someone else moved it forward.
    """
    if remote_head == expected:
        return
    if remote_head is None or (
        expected is not None and (remote_head.epoch, remote_head.n) < (expected.epoch, expected.n)
    ):
        raise RemoteRewritten(
            f"{address} was rewritten: it no longer holds what this palace has pushed there, so nothing was changed; "
            f"if that was intended, 'palazzo sync init {address} --again' pushes everything again."
        )
    if expected is None:
        raise DeviceCopied(
            f"This device ({device[:8]}) has pushed data to {address} that this palace does not know: if the remote "
            f"was removed here, 'palazzo sync init {address} --again' continues; if this palace is a copy of "
            f"another, 'palazzo sync init {address} --new-device' makes it a separate device."
        )
    raise DeviceCopied(
        f"Another palace writes to {address} as this device ({device[:8]}): one is a copy of the other, or was "
        f"restored from a backup. Run 'palazzo sync init {address} --new-device' in one of them."
    )


def no_longer_there(device: str, name: SegmentName) -> str:
    """Return the message that a segment is no longer available."""
    return (
        f"Segment {name.epoch}-{name.n} of device {device[:8]} is no longer there: either that device has just "
        "pushed everything again, or the segment is still being copied; pull again."
    )
