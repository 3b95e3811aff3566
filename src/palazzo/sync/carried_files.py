"""Carried files: files that are carried between palaces, read line by line within limits, written whole or not at all.

This module knows compression and limits, and nothing about the content of a line. The input is untrusted: a file that
grows without end when it is unpacked, a line that is one deep bracket, a missing end. Never more of a file than one
line and one unpacked block is held in memory.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

import zstandard

from palazzo.errors import PalazzoError, SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.store.filesystem import sync_directory
from palazzo.store.raw_database import refuse_open
from palazzo.sync.record_lines import LARGEST_LINE

MOST_GROWTH, FREE_GROWTH = 200, 64 << 20
"""Limit of unpacked data: this many times the packed size, plus this many bytes. Exports grow five- to tenfold; logs
that repeat one line, hundredfold.
"""
STDIN = Path("-")
"""The name for standard input or output in place of a file."""

_BLOCK = 64 << 10
_ZSTD_BLOCK = 1 << 10
"""zstd data is unpacked in one piece: a kilobyte of it contains at most 32 MiB (256 blocks of 128 KiB that repeat one
byte).
"""
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BOM, _UTF16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")


@frozen
class Line:
    """A line without its line end, its number (from 1), and the number of bytes of the file read so far."""

    number: int
    text: bytes
    read: int


def lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a file that may be packed by gzip or zstd, whatever its name; empty lines are left out.

    Raises SourceUnreadable for a file that cannot be read, ends too soon, is not text or exceeds a limit.
    """
    with _open_file(path) as file:
        yield from _lines(path, file)


def pieces(path: Path) -> Iterator[bytes]:
    """Yield a file's content, unpacked, in pieces, for formats without lines. Raises the errors of `lines`."""
    with _open_file(path) as file:
        for piece, _ in _blocks(path, file):
            yield piece


@contextmanager
def _open_file(path: Path) -> Iterator[BinaryIO]:
    try:
        if stat.S_ISFIFO(path.stat().st_mode):
            raise SourceUnreadable(f"{path} is a pipe that may never be written to. Name a file.")
        refuse_open(path)
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read ({error.strerror}). Name a readable file.") from error


# --- reading -----------------------------------------------------------------------------------------------


class _Unpacker(Protocol):
    """Unpacks a stream piece by piece. `is_whole` says that the stream may end here."""

    @property
    def is_whole(self) -> bool: ...

    def unpack(self, chunk: bytes) -> Iterator[bytes]: ...


class _Gzip:
    """Consecutive gzip members."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)
        self._fresh = True

    @property
    def is_whole(self) -> bool:
        return self._fresh or self._member.eof

    def unpack(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the output of `chunk`, in pieces of at most a megabyte."""
        while chunk:
            if self._member.eof:
                chunk = chunk.lstrip(b"\0")  # padding of tapes
                if not chunk:
                    return
                self._member, self._fresh = zlib.decompressobj(wbits=31), True
            self._fresh = False
            yield self._member.decompress(chunk, 1 << 20)
            chunk = self._member.unused_data if self._member.eof else self._member.unconsumed_tail


class _Zstd:
    """Consecutive zstd frames."""

    def __init__(self) -> None:
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._fresh = True

    @property
    def is_whole(self) -> bool:
        return self._fresh or self._frame.eof

    def unpack(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the output of `chunk`, in pieces of a kilobyte."""
        for start in range(0, len(chunk), _ZSTD_BLOCK):
            rest = chunk[start : start + _ZSTD_BLOCK]
            while rest:
                if self._frame.eof:
                    self._frame = zstandard.ZstdDecompressor().decompressobj()
                self._fresh = False
                yield self._frame.decompress(rest)
                rest = self._frame.unused_data if self._frame.eof else b""


class _Plain:
    """Uncompressed data."""

    is_whole = True

    def unpack(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the content unchanged."""
        yield chunk


def _unpacker(beginning: bytes) -> _Unpacker:
    if beginning.startswith(_GZIP):
        return _Gzip()
    return _Zstd() if beginning.startswith(_ZSTD) else _Plain()


def _blocks(path: Path, file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Yield a file's content, unpacked, with the number of its own bytes read so far."""
    read = unpacked_size = 0
    block = file.read(_BLOCK)
    unpacker = _unpacker(block)
    has_limit = not isinstance(unpacker, _Plain)
    try:
        while block:
            read += len(block)
            for piece in unpacker.unpack(block):
                unpacked_size += len(piece)
                if has_limit and unpacked_size > read * MOST_GROWTH + FREE_GROWTH:
                    raise SourceUnreadable(
                        f"{path} unpacks to more than {MOST_GROWTH} times its size, so reading stopped. Unpack it "
                        "yourself if you trust its source."
                    )
                yield piece, read
            block = file.read(_BLOCK)
    except (zlib.error, zstandard.ZstdError) as error:
        raise SourceUnreadable(f"{path} is damaged: it cannot be unpacked. Copy it again from its source.") from error
    if not unpacker.is_whole:
        raise SourceUnreadable(f"{path} is truncated: a part of it is missing. Copy it again.")


def _lines(path: Path, file: BinaryIO) -> Iterator[Line]:
    number, size, read = 0, 0, 0
    parts: list[bytes] = []
    has_content = False
    for piece, read in _blocks(path, file):
        if not has_content and piece:
            has_content = True
            if piece.startswith(_UTF16):
                raise SourceUnreadable(
                    f"{path} is in UTF-16, but must be in UTF-8. Save it as UTF-8, or export it again."
                )
            piece = piece.removeprefix(_BOM)
        for start in range(0, len(piece), _BLOCK):  # all lines of a piece at once could be as many as it has bytes
            first, *rest = piece[start : start + _BLOCK].split(b"\n")
            parts.append(first)
            size += len(first)
            for fragment in rest:
                number += 1
                text = b"".join(parts)
                if text.strip():
                    yield Line(number, text, read)
                parts, size = [fragment], len(fragment)
            if size > LARGEST_LINE:
                raise SourceUnreadable(
                    f"{path}: line {number + 1:,} has more than {LARGEST_LINE >> 20} MiB and was not read. The file "
                    "is not an export, or is damaged."
                )
    if (text := b"".join(parts)).strip():
        yield Line(number + 1, text, read)


# --- writing -----------------------------------------------------------------------------------------------


@contextmanager
def open_output(path: Path) -> Iterator[Callable[[bytes], object]]:
    """Yield a function that writes to `path`, packed by its suffix (`.gz`, `.zst`); `-` is standard output.

    The file gets its name once all data is written and on the disk; if anything fails before that, no file is created
    and an existing one stays. Only its owner can read it. The same lines make the same bytes.
    """
    if path == STDIN:
        try:
            yield sys.stdout.buffer.write
            sys.stdout.buffer.flush()
        except BrokenPipeError:  # whoever reads has enough
            raise
        except OSError as error:
            raise PalazzoError(
                f"Standard output cannot be written ({error.strerror}). Name a file elsewhere, or free some space."
            ) from error
        return
    try:
        handle, temporary_name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:60]}-", suffix=".part")  # 0600
    except OSError as error:
        raise _unwritable(path, error) from error
    temporary = Path(temporary_name)
    try:
        with os.fdopen(handle, "wb") as file:
            with _packer(path, file) as write:
                yield write
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _packer(path: Path, file: BinaryIO) -> Iterator[Callable[[bytes], object]]:
    match path.suffix.lower():
        case ".gz":
            gzip = zlib.compressobj(6, wbits=31)  # without a name and a time in its head: two exports are the same
            yield lambda line: file.write(gzip.compress(line))
            file.write(gzip.flush())
        case ".zst" | ".zstd":
            zstd = zstandard.ZstdCompressor(level=3, write_checksum=True).compressobj()
            yield lambda line: file.write(zstd.compress(line))
            file.write(zstd.flush())
        case _:
            yield file.write


def _unwritable(path: Path, error: OSError) -> PalazzoError:
    return PalazzoError(f"{path} cannot be written ({error.strerror}). Name another file, or free some space.")
