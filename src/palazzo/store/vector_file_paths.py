"""The file beside a palace that holds what a search reads of all vectors, so that it need not be read row by row.

The file is derived from the palace and can be removed at any time. It holds hashes of texts, so an erase overwrites it.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

SUFFIX = "-vectors"
"""What the name of the file has after the palace's own, as SQLite's `-wal` and `-shm`."""
_ABANDONED_AFTER = 3600
"""Seconds after the last write to an unfinished file: a process writes it in a second, of a million drawers."""


def vector_file(palace: Path) -> Path:
    """Return the path of the file of a palace."""
    return palace.with_name(palace.name + SUFFIX)


def unfinished_file(palace: Path) -> Path:
    """Return a path of this process for a file that is being written."""
    return palace.with_name(f"{palace.name}{SUFFIX}.{os.getpid()}")


def remove_vector_files(palace: Path) -> None:
    """Overwrite and remove the file of a palace, and those that other processes are writing."""
    for path in [vector_file(palace), *_unfinished_files(palace)]:
        with contextlib.suppress(FileNotFoundError):  # another process has removed or finished it
            overwrite_and_remove(path)


def remove_abandoned_files(palace: Path) -> None:
    """Overwrite and remove what processes left that were killed while they wrote the file."""
    for path in _unfinished_files(palace):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _ABANDONED_AFTER:
                overwrite_and_remove(path)


def _unfinished_files(palace: Path) -> list[Path]:
    start = f"{palace.name}{SUFFIX}."
    return [path for path in palace.parent.iterdir() if path.name.startswith(start)]


def overwrite_and_remove(path: Path) -> None:
    """Overwrite a file with zeros and remove it."""
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
        file.flush()
        os.fsync(file.fileno())
    path.unlink()
