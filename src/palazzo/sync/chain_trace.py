"""Chain trace: the links of its own chain that a device has published on a remote, for any caller."""

from __future__ import annotations

from palazzo.sync import segment_sequence
from palazzo.sync.record_lines import from_line
from palazzo.sync.records.chain_records import Link
from palazzo.sync.remotes import Remote
from palazzo.sync.segments import Cipher

_LINK = b'{"kind":"link"'


def links_told(
    transport: Remote, palace: str, device: bytes, cipher: Cipher | None, key: bytes = b""
) -> dict[int, bytes]:
    """Return the hashes of the chain links that a device has published, by number; `key` is the palace's."""
    uid = device.hex()
    remote_state = transport.look()
    head = remote_state.heads.get(uid)
    hashes: dict[int, bytes] = {}
    if head is None:
        return hashes
    segment_contents = segment_sequence.follow(
        lambda name: transport.read(uid, name), remote_state.names.get(uid, ()), head, None, palace, cipher, key
    )
    for segment in segment_contents:
        for line in segment.lines:
            if line.startswith(_LINK):
                record = from_line(line)
                if isinstance(record, Link) and record.device == uid:
                    hashes[record.seq] = record.hash
    return hashes
