"""Sharing: sends what a wing has and the team server lacks, as segments that continue the device's series.

Where something that was sent is no longer shared (forgotten, moved, erased, made private), a new epoch sends everything
that still is; the server then deletes the epoch before. A lost answer is repaired by asking for the server's head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from palazzo.errors import RemoteRewritten
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.sync import segments
from palazzo.sync.device_cards import Card, Signer
from palazzo.sync.segments import Segment, SegmentName, Series
from palazzo.team import protocol
from palazzo.team.client import membership as membership_files
from palazzo.team.client.membership import Membership, SentState
from palazzo.team.client.team_connection import TeamConnection
from palazzo.team.client.wing_records import Selection


@frozen
class ShareOutcome:
    """What was sent: records, segments and their bytes. `is_new_epoch` says that the rest was withdrawn; `approvals`
    counts notes whose approval was sent or taken back.
    """

    records: int = 0
    segments: int = 0
    bytes: int = 0
    is_new_epoch: bool = False
    approvals: int = 0


@frozen
class ShareDelta:
    """The lines to send; `is_new_epoch` says that something is withdrawn, so they are all lines."""

    lines: Sequence[bytes]
    hashes: dict[str, str]
    is_new_epoch: bool


def compare(selection: Selection, sent: SentState) -> ShareDelta:
    """Return what the server lacks. Items never change there; other records count as they were sent last."""
    hashes = {key: _digest(line) for key, line in selection.lines.items()}
    is_new_epoch = bool(sent.head) and any(
        key not in hashes or (key.startswith("item/") and hashes[key] != digest) for key, digest in sent.records.items()
    )
    known = {} if is_new_epoch else sent.records
    lines = [line for key, line in selection.lines.items() if known.get(key) != hashes[key]]
    return ShareDelta(lines, hashes, is_new_epoch)


def send_wing(
    palace: Path,
    member: Membership,
    connection: TeamConnection,
    wing: str,
    selection: Selection,
    clock: Callable[[], Micros],
) -> ShareOutcome:
    """Send what the server lacks of its wing `wing`. Raises TeamRefused, TeamUnreachable; then send it again."""
    about = connection.describe_wing(wing)
    sent = membership_files.load_sent(palace, wing)
    head = SegmentName.parse(str(about["head"])) if about["head"] else None
    if str(head or "") != sent.head:  # an answer was lost, or the server was restored: what it has is not known
        something_else = {"": ""} if head else {}
        sent = SentState(str(head or ""), something_else, something_else)
    delta, key = compare(selection, sent), bytes.fromhex(about["key"])
    outcome = ShareOutcome()
    if delta.lines or delta.is_new_epoch:
        size = count = 0
        for segment in _write(member, wing, key, head, delta, clock):
            connection.send_segment(wing, str(segment.name), segment.content)
            size, count, head = size + len(segment.content), count + 1, segment.name
        if head is None:
            raise RemoteRewritten("Nothing was written for the team server.")
        sent = replace(sent, head=str(head), records=delta.hashes)
        membership_files.save_sent(palace, wing, sent)
        outcome = ShareOutcome(len(delta.lines), count, size, delta.is_new_epoch)
    digests = {drawer: protocol.digest_text(text, key) for drawer, text in selection.approved.items()}
    if digests == sent.approved:
        return outcome
    connection.replace_approvals(wing, digests, member.key)
    membership_files.save_sent(palace, wing, replace(sent, approved=digests))
    changed = {drawer for drawer, _ in digests.items() ^ sent.approved.items() if drawer}
    return replace(outcome, approvals=len(changed))


def _write(
    member: Membership, wing: str, key: bytes, head: SegmentName | None, delta: ShareDelta, clock: Callable[[], Micros]
) -> Iterator[Segment]:
    """Yield the segments. The card names no other device, and no invitation."""
    epoch = 1 if head is None else head.epoch + delta.is_new_epoch
    series = Series(wing, member.device, None if delta.is_new_epoch else head, epoch)
    signing_key = member.key
    signer = Signer(signing_key, Card(signing_key.public))
    yield from segments.write(delta.lines, series, clock, key=key, signer=signer)


def _digest(line: bytes) -> str:
    return blake2b(line, digest_size=16).hexdigest()
