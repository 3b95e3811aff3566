"""What a device has told of its chain on a remote, whoever asks."""

from __future__ import annotations

from palazzo.exchange import segments
from palazzo.exchange.records import Link
from palazzo.exchange.remotes import Remote
from palazzo.exchange.segments import Sealing
from palazzo.exchange.wire import from_line

_LINK = b'{"kind":"link"'


def links_told(
    transport: Remote, palace: str, device: bytes, cipher: Sealing | None, key: bytes = b""
) -> dict[int, bytes]:
    """Return the hashes of the links that a device has told of its own chain, by number; `key` is the palace's."""
    uid = device.hex()
    there = transport.look()
    head = there.heads.get(uid)
    found: dict[int, bytes] = {}
    if head is None:
        return found
    told = segments.follow(
        lambda name: transport.read(uid, name), there.names.get(uid, ()), head, None, palace, cipher, key
    )
    for opened in told:
        for line in opened.lines:
            if line.startswith(_LINK):
                record = from_line(line)
                if isinstance(record, Link) and record.device == uid:
                    found[record.seq] = record.hash
    return found
