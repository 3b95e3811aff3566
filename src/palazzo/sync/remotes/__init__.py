"""Remotes: where devices leave segments for one another. No server; a folder, or a branch of a git repository.

A remote is files, and who writes which is settled: each device its own directory, and `palazzo.json`, which says whose
segments these are, the first. So two devices never change the same file, and nothing here knows what segments hold.
`folder` and `git` keep the promise of `Remote`; `opening.open_remote` tells which an address is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from palazzo.errors import DeviceCopied, RemoteRewritten
from palazzo.sync.segments import Head, Segment, SegmentName

ABOUT = "palazzo.json"
DEVICES = "devices"
HEAD = "head"
LARGEST_ABOUT = 1024 * 1024

Kind = Literal["folder", "git"]


@dataclass(frozen=True, slots=True)
class RemoteState:
    """What a remote holds. `about` is `palazzo.json`, None on a remote that no palace uses yet.

    `names` are each device's segments, sorted, also such as no head names (yet, or any more); `damaged` says of
    devices whose head cannot be read what is wrong. Files that are none of these are left alone and not told of.
    """

    about: bytes | None = None
    heads: Mapping[str, Head] = field(default_factory=dict)
    names: Mapping[str, tuple[SegmentName, ...]] = field(default_factory=dict)
    head_errors: Mapping[str, str] = field(default_factory=dict)


Ready = Callable[[Head], None]
"""Told of the head that is about to be seen by others, once all before it is there. Who notes it durably knows after a
kill whether a head that it finds is its own. It may raise: then nothing is seen by others."""


class Remote(Protocol):
    """Where devices leave segments. All calls raise RemoteUnusable, in one sentence, where it can't be had or written.

    One remote object is for one thread; two processes of one palace take turns (who calls holds a lock).
    """

    @property
    def kind(self) -> Kind:
        """What it is."""
        ...

    @property
    def address(self) -> str:
        """Where it is, as messages name it: without a password."""
        ...

    def look(self) -> RemoteState:
        """Go there and return what there is now."""
        ...

    def read(self, device: str, name: SegmentName) -> bytes:
        """Return a segment's bytes, of what was there at the last `look`; `segments.read` checks them."""
        ...

    def introduce(self, about: bytes) -> bytes:
        """Write `palazzo.json` where there is none; return what is there now, which may be another device's."""
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
        """Add a device's next segments and let its head stand behind the last; return that head.

        `expected` is the head that this palace last put there for the device. None, and nothing is done, where there
        are no segments. `anew` takes the device's other segments away with the same step: in a folder when the head
        has been written (`tidy` does what a kill left), in git so that no branch leads to them any more. Others see
        all of it or nothing. Raises DeviceCopied or RemoteRewritten where the device's head is another than `expected`.
        """
        ...

    def tidy(self, head: Head) -> None:
        """Take away what of this device's segments does not lead to `head`, its own: left by a push that was killed."""
        ...


def refuse_other(address: str, device: str, remote_head: Head | None, expected: Head | None) -> None:
    """Raise unless the head that a device has on a remote is the one that its palace put there.

    RemoteRewritten where it is gone or went back, DeviceCopied where somebody else moved it on.
    """
    if remote_head == expected:
        return
    if remote_head is None or (
        expected is not None and (remote_head.epoch, remote_head.n) < (expected.epoch, expected.n)
    ):
        raise RemoteRewritten(
            f"{address} was rewritten: it no longer holds what this palace has put there, so nothing was changed; "
            f"if that was on purpose, 'palazzo sync init {address} --again' tells it all anew."
        )
    if expected is None:
        raise DeviceCopied(
            f"This device ({device[:8]}) has brought something to {address} that this palace does not know of: if the "
            f"remote was removed here, 'palazzo sync init {address} --again' goes on; if this palace is a copy of "
            f"another, 'palazzo sync init {address} --new-device' makes it a device of its own."
        )
    raise DeviceCopied(
        f"Another palace writes to {address} as this device ({device[:8]}): one is a copy of the other, or was "
        f"restored from a backup. Run 'palazzo sync init {address} --new-device' in one of them."
    )


def no_longer_there(device: str, name: SegmentName) -> str:
    """Say that a segment cannot be had though it was there."""
    return (
        f"Segment {name.epoch}-{name.n} of device {device[:8]} is no longer there, since that device has just told all "
        "anew, or it is still being copied; pull again."
    )
