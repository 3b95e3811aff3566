"""Writing the palace's file anew, so that no page, log or index of it holds what was deleted.

SQLite leaves deleted words where they were: in pages that wait to be used again, in the write-ahead log, and FTS5 in
the pieces of its index (`secure-delete` does nothing for an index without content). Here each of them goes: the
indexes are merged, every page is written anew, and the log is folded into the file and emptied. Others may go on
reading and writing; only who still reads an older state has to be waited for, as it lives in the log.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from palazzo.errors import PalaceUnusable
from palazzo.store import keyword_table, retired_keywords
from palazzo.store.database import Database
from palazzo.store.palace_opening import Patience

PATIENCE = 30.0
"""Seconds to wait for others who read an older state: a search takes a tenth of one."""
_NAP = 0.05
_MOST_IN_MEMORY = 256 * 1024 * 1024
"""Bytes of a palace up to which it is written anew by way of memory; a larger one goes by way of a temporary file."""


@contextmanager
def enable_secure_delete(database: Database) -> Iterator[None]:
    """Have what this thread deletes in the block overwritten with zeros wherever it is."""
    with database.outside_transaction() as raw:
        raw.execute("PRAGMA secure_delete=ON").fetchall()
    try:
        yield
    finally:
        with database.outside_transaction() as raw:
            raw.execute("PRAGMA secure_delete=FAST").fetchall()


def scrub(database: Database, patience: float = PATIENCE) -> None:
    """Write indexes and pages anew and empty the log. Raises PalaceUnusable while others read an older state."""
    with enable_secure_delete(database):
        with database.transaction() as connection:
            keyword_table.purge(connection)
            retired_keywords.purge(connection)
        with database.outside_transaction() as raw:
            _vacuum(raw)
    _empty_log(database, patience)


def _vacuum(raw: apsw.Connection) -> None:
    (pages,), (size,) = raw.execute("PRAGMA page_count").fetchone(), raw.execute("PRAGMA page_size").fetchone()  # type: ignore[misc]
    if int(pages) * int(size) > _MOST_IN_MEMORY:
        raw.execute("PRAGMA temp_store=FILE")
    try:
        raw.execute("VACUUM")
    finally:
        raw.execute("PRAGMA temp_store=MEMORY")


def _empty_log(database: Database, patience: float) -> None:
    until = time.monotonic() + patience
    with database.outside_transaction() as raw:
        while True:
            busy = _truncate(raw)
            if not busy:
                return
            if time.monotonic() > until:
                raise PalaceUnusable(
                    "The words are gone from the palace, but another program still reads an older state of it, which "
                    "its log keeps. End that program and run 'palazzo erase' to finish."
                )
            time.sleep(_NAP)


def _truncate(raw: apsw.Connection) -> bool:
    """Fold the log into the file and empty it; return whether somebody was in the way. Waits for nobody."""
    raw.set_busy_handler(None)
    try:
        ((busy, _, _),) = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except (apsw.BusyError, apsw.LockedError):
        return True
    finally:
        raw.set_busy_handler(Patience())
    return bool(busy)
