"""Files that are read as a whole, since what they are can only be said of all of their text."""

from __future__ import annotations

from pathlib import Path

from palazzo.errors import SourceUnreadable

LARGEST = 256 * 1024 * 1024


def read_file(path: Path, largest: int = LARGEST) -> bytes:
    """Return the bytes of a file; SourceUnreadable where it has more than `largest` or cannot be read."""
    try:
        if path.stat().st_size > largest:
            raise SourceUnreadable(f"{path} is over {largest:,} bytes; split it.")
        return path.read_bytes()
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read ({error}).") from None
