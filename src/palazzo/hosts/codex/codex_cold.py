"""Codex's cold rollouts: `rollout-….jsonl.zst`, the compressed rollout of a thread that has been inactive for a while.

Learned from Codex's public sources (`codex-rs/rollout/src/compression.rs`): one Zstandard stream (RFC 8878) of the
rollout's bytes, in the same place and with `.zst` added to its name; resuming the thread makes it a plain file again.
While both exist, the plain one is the thread's.

The rows are those of the plain rollout, at the same positions and under the same identity, so that a rollout that is
compressed later adds nothing.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from palazzo.errors import SourceUnreadable
from palazzo.hosts.codex.codex_rollouts import KIND, Codex
from palazzo.sources.formats import Row, Session
from palazzo.sources.formats.row_records import stamp_of

MAGIC = b"\x28\xb5\x2f\xfd"
SUFFIX = ".jsonl.zst"
LARGEST = 4 * 1024**3
"""Maximum unpacked bytes of one rollout: fifty times the longest reported."""
_WINDOW = 128 * 1024**2
"""Maximum bytes of memory that a stream may request; the default levels of programs request 8 MiB."""
_AT_ONCE = 1024
"""Packed bytes that are unpacked together. Four bytes may be a block of 128 KiB, so this many are 32 MiB at most."""
_HEAD = 64 * 1024


class CodexCold:
    """Reads compressed rollouts of Codex, each with one thread."""

    kind = KIND
    version = Codex.version

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether this is a compressed rollout: by its name, and by the stream's first bytes."""
        return path.name.startswith("rollout-") and path.name.endswith(SUFFIX) and head.startswith(MAGIC)

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the thread; nothing if the uncompressed rollout lies beside it."""
        plain = path.with_suffix("")
        if plain.exists():
            return
        try:
            status = path.stat()
            with _open_rollout(path) as stream:
                head = stream.read(_HEAD)
        except (OSError, zstandard.ZstdError) as error:
            raise _report_damage(path, error) from None
        codex = Codex()
        if not codex.recognises(plain, head):
            raise SourceUnreadable(f"{path} is compressed, but contains no Codex rollout.")
        stamp = stamp_of(str(status.st_size), str(status.st_mtime_ns))
        yield Session(codex.identify(plain, head), stamp, partial(_rows, path))


def _rows(path: Path) -> Iterator[Row]:
    try:
        with _open_rollout(path) as stream:
            yield from Codex().rows(stream)
    except (OSError, zstandard.ZstdError) as error:
        raise _report_damage(path, error) from None


def _open_rollout(path: Path) -> BinaryIO:
    return io.BufferedReader(_RolloutStream(path, path.open("rb")))


def _report_damage(path: Path, error: Exception) -> SourceUnreadable:
    return SourceUnreadable(f"{path} is damaged or truncated ({error}); everything before that was read.")


class _RolloutStream(io.RawIOBase):
    """The bytes of a compressed file. Reading fails beyond `LARGEST` bytes, and if the packed data ends too early."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self._path, self._packed = path, stream
        self._frame = self._new_frame()
        self._is_within = False
        self._ready, self._given = b"", 0

    def readable(self) -> bool:
        """Return True: the stream is readable."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the next bytes; none at the end."""
        while not self._ready and self._unpack_more():
            pass
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def close(self) -> None:
        """Close the file."""
        self._packed.close()
        super().close()

    def _unpack_more(self) -> bool:
        chunk = self._frame.unused_data if self._frame.eof else b""
        if self._frame.eof:
            self._frame, self._is_within = self._new_frame(), False
        chunk = chunk or self._packed.read(_AT_ONCE)
        if not chunk and self._is_within:
            raise zstandard.ZstdError("the last frame is incomplete")
        if chunk:
            self._ready, self._is_within = self._frame.decompress(chunk), True
        self._given += len(self._ready)
        if self._given > LARGEST:
            raise SourceUnreadable(f"{self._path} unpacks to more than {LARGEST:,} bytes, more than a rollout has.")
        return bool(chunk)

    @staticmethod
    def _new_frame() -> zstandard.ZstdDecompressionObj:
        return zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
