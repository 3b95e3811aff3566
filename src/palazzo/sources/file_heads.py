"""Opening files that other programs own, without ever blocking.

A path that was a file when it was listed may be a FIFO when it is opened, and opening a FIFO waits for a writer. So
files are opened without blocking and without following a link, and checked again through the open descriptor.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from palazzo.store.raw_database import is_open, refuse_open

HEAD = 64 * 1024
"""Bytes at the beginning from which a format is detected (`Feeder.recognises`)."""

_OF_PALACE = bytes(512)
"""Stands for the head of a palace that is open here, and must not be opened: no format begins like it."""
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOCTTY", 0)
)


def read_head(path: str | Path) -> bytes:
    """Return the first `HEAD` bytes. Raises OSError, also if it is not a regular file."""
    return _OF_PALACE if is_open(path) else read_whole(path, HEAD)


def read_whole(path: str | Path, most: int) -> bytes:
    """Return at most `most` bytes. Raises OSError, also if it is not a regular file."""
    refuse_open(path)
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{kind_of(os.fstat(descriptor).st_mode)}, not a file")
        return file.read(most)


def kind_of(mode: int) -> str:
    """Name what a path is, from its mode."""
    names = (
        (stat.S_ISREG, "a file"),
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((name for test, name in names if test(mode)), "a special file")


def trouble(error: OSError) -> str:
    """Return one clause that says why a path could not be read."""
    if isinstance(error, FileNotFoundError):
        return "deleted after it was listed"
    return f"cannot be read: {error.strerror or error}"
