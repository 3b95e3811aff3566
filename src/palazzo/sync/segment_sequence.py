"""A segment sequence is what a device has written in order; a reader checks that each segment follows the last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from palazzo.errors import RemoteRewritten, SegmentRefused, SegmentUnreadable
from palazzo.sync.segments import REMEDY, Cipher, Head, SegmentContent, SegmentName, read

Fetch = Callable[["SegmentName"], bytes]
"""Returns a segment's bytes."""


class Judge(Protocol):
    """Decides whether segments come from a device that may write."""

    def is_proven(self, segment: SegmentContent) -> bool:
        """Return whether its device wrote a segment; False if only a later one can prove it. May raise
        SegmentRefused.
        """
        ...


def unread(names: Iterable[SegmentName], head: Head, last_read: SegmentName | None) -> list[SegmentName | None]:
    """Return, in order, which of a device's segments are new to a reader that has read up to `last_read`.

    None marks a segment that is missing, or for which there are several candidates: `follow` then asks the one after
    it. Raises RemoteRewritten if `last_read` no longer precedes the head.
    """
    first = 1
    if last_read is not None:
        if (head.epoch, head.n) < (last_read.epoch, last_read.n):
            raise RemoteRewritten(_rewritten(head.device, "went back"))
        if (head.epoch, head.n) == (last_read.epoch, last_read.n) and head.hash != last_read.hash:
            raise RemoteRewritten(_rewritten(head.device, "has a different history"))
        if head.epoch == last_read.epoch:
            first = last_read.n + 1
    claims: dict[int, list[SegmentName]] = {}
    for name in names:
        if name.epoch == head.epoch and first <= name.n < head.n:
            claims.setdefault(name.n, []).append(name)
    between = [claims.get(n, []) for n in range(first, head.n)]
    segment_names: list[SegmentName | None] = [
        candidates[0] if len(candidates) == 1 else None for candidates in between
    ]
    return [*segment_names, head.name] if head.n >= first else segment_names


def follow(
    fetch: Fetch,
    names: Sequence[SegmentName],
    head: Head,
    last_read: SegmentName | None,
    palace: str,
    cipher: Cipher | None = None,
    key: bytes = b"",
    judge: Judge | None = None,
) -> Iterator[SegmentContent]:
    """Yield, in order, what a device has written since `last_read`; each segment is checked, and follows the one before
    it.

    The `judge` says of each whether its device wrote it. A segment without a signature is proven by a later signed one,
    which names its predecessor by hash.

    `fetch` gives the bytes of a segment, `names` are those that exist. A yielded segment is valid whatever comes later.
    Raises RemoteRewritten, SegmentUnreadable, WrongKey, and what `fetch` raises.
    """
    unread_names = unread(names, head, last_read)
    for at in range(len(unread_names) - 2, -1, -1):  # of those that claim one number it is the one that the next names
        next_name = unread_names[at + 1]
        if unread_names[at] is None and next_name is not None:
            previous = read(fetch(next_name), next_name, head.device, palace, cipher, key).header.previous
            claimed_name = SegmentName(next_name.epoch, next_name.n - 1, previous)
            unread_names[at] = claimed_name if claimed_name in names else None
    previous_name = last_read if last_read is not None and last_read.epoch == head.epoch else None

    def open_segment(name: SegmentName) -> SegmentContent:
        return read(fetch(name), name, head.device, palace, cipher, key)

    proven_to = 0
    for number, name in enumerate(unread_names, head.n - len(unread_names) + 1):
        if name is None:
            raise SegmentUnreadable(
                f"Segment {head.epoch}-{number} of device {head.device[:8]} has not arrived yet; wait until it is "
                f"copied, and pull again. {REMEDY}"
            )
        segment = open_segment(name)
        if segment.header.previous != (previous_name.hash if previous_name else ""):
            raise RemoteRewritten(_rewritten(head.device, "has a different history"))
        if judge is not None and not judge.is_proven(segment) and number > proven_to:
            proven_to = _proven_to(unread_names[number - 1 - (head.n - len(unread_names)) :], open_segment, judge)
        yield segment
        previous_name = name


def _proven_to(
    names: Sequence[SegmentName | None], open_segment: Callable[[SegmentName], SegmentContent], judge: Judge
) -> int:
    """Return the number of the first signed segment that proves the first of these; SegmentRefused if none."""
    first = names[0]
    assert first is not None  # noqa: S101 - it was read
    previous = first.hash
    for name in names[1:]:
        if name is None:
            break
        later = open_segment(name)
        if later.header.previous != previous:
            break
        if judge.is_proven(later):
            return name.n
        previous = name.hash
    raise SegmentRefused(
        f"Segment {first.epoch}-{first.n} is not signed, although its device has signed others; nothing of it was "
        "pulled. Update Palazzo on that device, and push from there."
    )


def _rewritten(device: str, reason: str) -> str:
    return (
        f"The remote was rewritten: what device {device[:8]} had pushed there {reason}, so nothing more of it is "
        "pulled; if someone restored it deliberately, 'palazzo sync init ADDRESS --again' reads it again."
    )
