"""The file beside a palace that holds what a search reads of all vectors, so that it need not be read row by row.

The file is derived from the palace and can be removed at any time. It holds hashes of texts, so an erase overwrites it.
"""

from __future__ import annotations

import os
from pathlib import Path

SUFFIX = "-vectors"
"""What the name of the file has after the palace's own, as SQLite's `-wal` and `-shm`."""


def vector_file(palace: Path) -> Path:
    """Return the path of the file of a palace."""
    return palace.with_name(palace.name + SUFFIX)


def unfinished_file(palace: Path) -> Path:
    """Return a path of this process for a file that is being written."""
    return palace.with_name(f"{palace.name}{SUFFIX}.{os.getpid()}")


def remove_vector_files(palace: Path) -> None:
    """Overwrite and remove the file of a palace, and those that other processes are writing."""
    name = palace.name + SUFFIX
    for path in [path for path in palace.parent.iterdir() if path.name == name or path.name.startswith(f"{name}.")]:
        try:
            overwrite_and_remove(path)
        except FileNotFoundError:  # another process has removed or finished it
            continue


def overwrite_and_remove(path: Path) -> None:
    """Overwrite a file with zeros and remove it."""
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
        file.flush()
        os.fsync(file.fileno())
    path.unlink()
