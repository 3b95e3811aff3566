"""A checksum on every page, so that `verify` notices a bit that flipped on disk.

SQLite's own `cksumvfs` extension, which APSW's wheels contain, stores eight bytes at the end of each page. `verify`
compares them: without them it found 61 of 100 flipped bits, with them all (`tests/reliability/test_damage.py`). Normal
reads do not compare them: a person may have opened the file with another SQLite, which does not update the checksums of
the pages that it writes. Checksums cost about a sixth of writing time.
"""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import apsw

from palazzo.errors import PalaceUnusable
from palazzo.store.raw_database import RawDatabase

CHECKSUM_BYTES = 8
"""Bytes at the end of each page that store its checksum."""
_RESERVED_AT = 20
"""The offset of the number of reserved bytes per page in a database's header (SQLite file format, section 1.3)."""
_EXTENSION = "cksumvfs"
_lock = threading.Lock()
_has_extension: bool | None = None


def install() -> bool:
    """Make every later connection of this process keep checksums; return whether that works.

    It does not if APSW was built without the extension.
    """
    global _has_extension
    with _lock:
        if _has_extension is None:
            _has_extension = _load()
        return _has_extension


def reserve(connection: apsw.Connection) -> None:
    """Reserve space for checksums in a database that has no pages yet."""
    if install():
        connection.reserve_bytes(reserve=CHECKSUM_BYTES)


def refuse_without(path: Path) -> None:
    """Raise PalaceUnusable if writing to the palace at `path` would leave its checksums wrong."""
    if not install() and _keeps_checksums(path):
        raise PalaceUnusable(
            f"The palace {path} uses checksums, but the installed APSW was built without them. To write to the "
            "palace, install APSW from its wheel ('pip install --force-reinstall --only-binary :all: apsw')."
        )


def do_not_compare(connection: apsw.Connection) -> None:
    """Let a connection keep checksums without verifying them: any SQLite may have written to the file meanwhile."""
    connection.execute("PRAGMA checksum_verification=OFF").fetchall()


def compare(connection: apsw.Connection) -> None:
    """Let a connection verify the checksums of what it reads from now on."""
    connection.execute("PRAGMA checksum_verification=ON").fetchall()


def is_mismatch(error: apsw.Error) -> bool:
    """Whether an error reports that a page does not match its checksum."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA


def _load() -> bool:
    import apsw.sqlite_extra

    if not apsw.sqlite_extra.has(_EXTENSION):
        return False
    with contextlib.closing(apsw.Connection(":memory:")) as connection:
        try:
            apsw.sqlite_extra.load(connection, _EXTENSION)
        except (apsw.Error, OSError):  # built for another platform, or loading is forbidden here
            return False
    return True


def _keeps_checksums(path: Path) -> bool:
    try:
        with RawDatabase(path) as file:
            head = file.read(0, _RESERVED_AT + 1)
    except OSError:
        return False
    return len(head) > _RESERVED_AT and head[_RESERVED_AT] == CHECKSUM_BYTES
