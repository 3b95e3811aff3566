"""What a client and a team server both know: paths, limits, and the kinds of records that are shared.

A shared wing has an id and a key of its own. A device sends it as segments (`sync/segments`) whose palace is the wing's
id: each is chained to the one before it, proven by the wing's key and signed by the device's. A new epoch replaces all
that the device sent of the wing before; so what is no longer shared is withdrawn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b, sha256

from palazzo.errors import SegmentRefused
from palazzo.security.device_keys import DeviceKey, is_signed
from palazzo.sync.field_codecs import BadRecord
from palazzo.sync.record_lines import from_line
from palazzo.sync.records.item_records import ITEM, Item
from palazzo.sync.records.kind_registry import descriptor_of
from palazzo.sync.records.place_records import ROOM, WING
from palazzo.sync.records.record_kind import Record
from palazzo.sync.records.source_records import REPETITION, REVISION, SOURCE
from palazzo.sync.segments import Segment, SegmentContent, SegmentName, read

VERSION = 1
"""The version of the paths and bodies below; a server answers another one with 404."""
PREFIX = f"/team/v{VERSION}"
SHARED_KINDS = frozenset(kind.name for kind in (WING, ROOM, SOURCE, ITEM, REPETITION, REVISION))
"""What a wing is made of. Facts, tasks and acts of a person stay with the person."""
LARGEST_CONTENT = 32 * 1024 * 1024
"""Most bytes of a segment, decompressed: what a server holds in memory for one request."""
LARGEST_BODY = 16 * 1024 * 1024
"""Most bytes of a request."""
LONGEST_LINE = LARGEST_CONTENT // 2
"""Most bytes of a record: a longer one is not shared."""
LONGEST_NAME = 200
SCOPES = ("openid", "email", "profile", "groups")
"""What a client asks a provider for, at most: whatever a server wants, no more than who a person is."""
CALLBACK = "/sign-on"
"""The path on a client's own machine to which a provider sends a browser back, at any port of 127.0.0.1."""

MOST_APPROVALS = 10_000
"""The most approvals that a device may have in a wing: a person reads each of the notes. It sends the newest."""
OWN_APPROVALS, MAINTAINER_APPROVAL = b"team approvals", b"team approval"
"""What a device signs: which notes are approved in its palace, and a maintainer's approval of one note."""

Role = str
ROLES = ("reader", "writer", "maintainer", "owner")
"""In order of their rights: each may do what those before it may."""


def digest_text(text: str, key: bytes) -> str:
    """Return what identifies an approved text of a wing; without the wing's key, no text can be guessed from it.

    PostgreSQL stores neither NUL nor lone surrogates, so a text and what comes back from there count as the same.
    """
    return blake2b(text.replace("\0", " ").encode("utf-8", "replace"), digest_size=16, key=key).hexdigest()


def sign_approvals(key: DeviceKey, wing: str, digests: Mapping[str, str | None], purpose: bytes) -> str:
    """Return a device's signature of approvals (`OWN_APPROVALS` or `MAINTAINER_APPROVAL`): a token alone makes none."""
    return key.sign(purpose, _approvals_message(wing, digests)).hex()


def are_approvals_signed(
    public: bytes, signature: str, wing: str, digests: Mapping[str, str | None], purpose: bytes
) -> bool:
    """Return whether the device of a public key has signed these approvals."""
    try:
        content = bytes.fromhex(signature)
    except ValueError:
        return False
    return is_signed(public, content, purpose, _approvals_message(wing, digests))


def _approvals_message(wing: str, digests: Mapping[str, str | None]) -> bytes:
    return json.dumps([wing, sorted(digests.items())]).encode()


def open_segment(content: bytes, name: SegmentName, device: str, wing: str, key: bytes) -> SegmentContent:
    """Check a segment of a shared wing, and decompress it within limits. Raises SegmentUnreadable."""
    return read(content, name, device, wing, key=key, largest=LARGEST_CONTENT)


def parse_records(segment: SegmentContent) -> list[Record]:
    """Return a segment's records. Raises SegmentRefused if any is invalid, or of a kind that is not shared."""
    records: list[Record] = []
    for number, line in enumerate(segment.lines, 2):
        try:
            records.append(_parse_record(line))
        except BadRecord as error:
            raise SegmentRefused(f"Line {number} of segment {segment.name.epoch}-{segment.name.n} {error}.") from None
    return records


def _parse_record(line: bytes) -> Record:
    record = from_line(line)
    kind = kind_of(record)
    if kind not in SHARED_KINDS:
        raise BadRecord(f"is of the kind '{kind}', which is not shared with a team")
    if isinstance(record, Item) and record.raw is not None:
        raise BadRecord("has the bytes of its source, which are not shared with a team")
    return record


def kind_of(record: Record) -> str:
    """Return the name of a record's kind."""
    return descriptor_of(record).name


def is_next(segment: SegmentContent | Segment, head: SegmentName | None) -> bool:
    """Return whether a segment continues a device's series after `head`, or begins its next epoch."""
    header = segment.header
    if head is not None and (header.epoch, header.n) == (head.epoch, head.n + 1):
        return header.previous == head.hash
    return header.n == 1 and not header.previous and header.epoch == (1 if head is None else head.epoch + 1)


def sign_on_nonce(url: str, device: str, public_key: str, salt: str) -> str:
    """Return the nonce of a sign-on, which binds an ID token to one server and one device.

    So a server that is handed an ID token cannot use it at another one, nor anybody with another device's key.
    """
    return sha256("\0".join(("palazzo sign-on", url, device, public_key, salt)).encode()).hexdigest()
