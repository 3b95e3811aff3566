"""Checksums of an export's lines. They show that a line has changed, and about where; anyone can compute them.

    mac of the end record:   keyed hash (32 bytes), a checksum for each 64 lines (8 bytes), a checksum of both (8 bytes)

They stand behind the keyed hash, in the same field, because a Palazzo that does not know them refuses a record with an
unknown field, but reads a keyed hash of any length: it imports the export as one of another palace.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Protocol

from palazzo.sync.authenticity import MAC_BYTES

LINES_PER_CHECKSUM = 64
"""A sentence about damage can name this many lines; a checksum for each line would make an export 5 % larger."""
_CHECKSUM_BYTES = 8


class _Hash(Protocol):
    def digest(self) -> bytes: ...


def keyed_hash(mac: bytes) -> bytes:
    """Return the keyed hash in the `mac` of an end record."""
    return mac[:MAC_BYTES]


class LineChecksums:
    """The checksums of the lines of one export: the beginnings of SHA-256 hashes."""

    def __init__(self) -> None:
        self._checksums: list[bytes] = []
        self._block = sha256()
        self._count = 0

    def add(self, line: bytes) -> None:
        """Add a line, without its end. The ends that Windows writes make no difference."""
        self._block.update(line.removesuffix(b"\r") + b"\n")
        self._count += 1
        if self._count % LINES_PER_CHECKSUM == 0:
            self._checksums.append(_shortened(self._block))
            self._block = sha256()

    def seal(self, keyed: bytes) -> bytes:
        """Return the `mac` of the end record after these lines, with this keyed hash."""
        content = keyed + b"".join(self._all())
        return content + _shortened(sha256(content))

    def find_damage(self, mac: bytes) -> str:
        """Return where the `mac` of an end record shows a change, in words that follow 'changed in'; '' if nowhere.

        The export of a version without checksums shows nothing.
        """
        if len(mac) <= MAC_BYTES:
            return ""
        content, own = mac[:-_CHECKSUM_BYTES], mac[-_CHECKSUM_BYTES:]
        computed = self._all()
        if own != _shortened(sha256(content)) or len(content) != MAC_BYTES + len(computed) * _CHECKSUM_BYTES:
            return "its last line"
        stated = [content[start : start + _CHECKSUM_BYTES] for start in range(MAC_BYTES, len(content), _CHECKSUM_BYTES)]
        changed = [n for n, (ours, theirs) in enumerate(zip(computed, stated, strict=True)) if ours != theirs]
        return self._describe_blocks(changed) if changed else ""

    def _describe_blocks(self, blocks: list[int]) -> str:
        start = blocks[0] * LINES_PER_CHECKSUM
        first = f"one of the lines {start + 1:,} to {min(start + LINES_PER_CHECKSUM, self._count):,}"
        match len(blocks) - 1:
            case 0:
                return first
            case 1:
                return f"{first}, and in another place behind them"
            case later:
                return f"{first}, and in {later:,} places behind them"

    def _all(self) -> list[bytes]:
        return self._checksums if self._count % LINES_PER_CHECKSUM == 0 else [*self._checksums, _shortened(self._block)]


def _shortened(state: _Hash) -> bytes:
    return state.digest()[:_CHECKSUM_BYTES]
