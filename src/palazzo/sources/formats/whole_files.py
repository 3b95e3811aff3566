"""Whole files: files that are read completely, since only their whole text shows what they are."""

from __future__ import annotations

from pathlib import Path

from palazzo.errors import SourceUnreadable

LARGEST = 256 * 1024 * 1024


def read_file(path: Path, largest: int = LARGEST) -> bytes:
    """Return the bytes of a file; raises SourceUnreadable if it exceeds `largest` or cannot be read."""
    try:
        if path.stat().st_size > largest:
            raise SourceUnreadable(f"{path} is over {largest:,} bytes; split it.")
        return path.read_bytes()
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read ({error}).") from None
