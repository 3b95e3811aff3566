"""Rewriting the palace's file, so that no page, log or index of it contains deleted words.

SQLite leaves deleted words where they were: in free pages, in the write-ahead log, and, for FTS5, in the segments of
its index (`secure-delete` has no effect on an index without content). Here each of them is cleaned: the indexes are
merged, every page is rewritten, and the log is checkpointed and emptied. Other processes may continue to read and
write; the rewrite waits only for readers of an older state, because that state is in the log.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from palazzo.errors import PalaceUnusable
from palazzo.store import keyword_table, retired_keywords, vector_file_paths
from palazzo.store.database import Database
from palazzo.store.palace_opening import Patience

PATIENCE = 30.0
"""Seconds to wait for readers of an older state: a search takes a tenth of one."""
_NAP = 0.05
_MOST_IN_MEMORY = 256 * 1024 * 1024
"""The largest palace, in bytes, that is rewritten through memory; a larger one is rewritten through a temporary
file.
"""


@contextmanager
def enable_secure_delete(database: Database) -> Iterator[None]:
    """Overwrite with zeros whatever this thread deletes in the block, wherever it is stored."""
    with database.outside_transaction() as raw:
        raw.execute("PRAGMA secure_delete=ON").fetchall()
    try:
        yield
    finally:
        with database.outside_transaction() as raw:
            raw.execute("PRAGMA secure_delete=FAST").fetchall()


def scrub(database: Database, patience: float = PATIENCE) -> None:
    """Rewrite indexes and pages, and empty the log. Raises PalaceUnusable while others read an older state.

    The file of vectors is removed: it has hashes of the erased texts.
    """
    with enable_secure_delete(database):
        with database.transaction() as connection:
            keyword_table.purge(connection)
            retired_keywords.purge(connection)
        with database.outside_transaction() as raw:
            _vacuum(raw)
    _empty_log(database, patience)
    try:
        vector_file_paths.remove_vector_files(database.path, patience)
    except OSError as error:
        raise PalaceUnusable(
            f"The text is erased from the palace, but a file that was derived from it could not be removed ({error}). "
            f"Remove {vector_file_paths.vector_file(database.path)} and run 'palazzo erase' to finish."
        ) from error


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
                    "The text is erased from the palace, but another program still reads an older state of it, which "
                    "its log keeps. End that program and run 'palazzo erase' to finish."
                )
            time.sleep(_NAP)


def _truncate(raw: apsw.Connection) -> bool:
    """Fold the log into the file and empty it; return whether another process prevented it. Does not wait."""
    raw.set_busy_handler(None)
    try:
        ((busy, _, _),) = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except (apsw.BusyError, apsw.LockedError):
        return True
    finally:
        raw.set_busy_handler(Patience())
    return bool(busy)
