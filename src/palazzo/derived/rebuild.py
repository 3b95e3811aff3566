"""Rebuild of derived data from the primary data, and comparison of the existing data with the expected data.

Rebuilding works in short transactions, so other work continues meanwhile. Nothing is emptied first: correct rows stay,
missing ones are added, and wrong ones are retired.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Literal

from palazzo.derived import async_consumer, cutter, heading_consumer
from palazzo.derived.consumers import lagging_consumers
from palazzo.derived.cutter import Cutter
from palazzo.errors import PalaceUnusable
from palazzo.index import cut_material, passage_embedding, retired_drawers
from palazzo.index.indexed_text import reindex
from palazzo.model import Micros
from palazzo.store import arrangements, change_log, keyword_table, ledger, source_rows
from palazzo.store.database import Connection, Database

RebuildTarget = Literal["drawers", "fts", "vectors", "all"]
SEGMENTS_AT_ONCE = 16
"""Segments that are cut again in one transaction: the write lock is held for about 30 ms."""
_ROWS_AT_ONCE = 50
"""Drawers that are indexed in one transaction: the write lock is held for about 30 ms."""
Progress = Callable[[int, int], None]


def rebuild(database: Database, target: RebuildTarget, progress: Progress | None = None) -> None:
    """Rebuild derived data of that kind; `progress` gets (sources done, sources in all)."""
    if target in ("fts", "all"):
        _clear_if_damaged(database)
    with database.transaction() as connection:
        arrangements.settle(connection)
    if target in ("drawers", "fts", "all"):
        _rebuild_drawers(database, progress)
    if target in ("fts", "all"):
        _reindex(database)
        retired_drawers.make_anew(database)
    if target in ("vectors", "all"):
        _drop_vectors(database)
    if target in ("fts", "all"):  # last: they make everything anew after a reset, and the steps before append some
        for consumer in lagging_consumers(Micros(time.time_ns() // 1000)):
            async_consumer.make_anew(database, consumer)
    if target == "all":
        with database.transaction() as connection:
            ledger.count_anew(connection)
    if target == "all" and not pages_are_sound(database):
        with database.outside_transaction() as raw:
            raw.execute("VACUUM")  # writes every page anew, with its checksum


def pages_are_sound(database: Database) -> bool:
    """Return whether every page in use matches its checksum."""
    try:
        with (
            contextlib.closing(Database(database.path, "read", compares_checksums=True)) as reader,
            reader.snapshot() as connection,
        ):
            return list(connection.execute("PRAGMA integrity_check(1)")) == [("ok",)]
    except PalaceUnusable:
        return False


def _drop_vectors(database: Database) -> None:
    with database.transaction() as connection:
        connection.execute("DELETE FROM passage WHERE drawer NOT IN (SELECT id FROM drawer)")
        connection.execute("DELETE FROM pending")
        connection.execute("DELETE FROM vector")
        passage_embedding.replace_embedder(connection)


def _rebuild_drawers(database: Database, progress: Progress | None) -> None:
    with database.snapshot() as connection:
        rows = list(source_rows.source_rows(connection))
    for n, source in enumerate(rows):
        work = _steps(database, source)
        for _ in work:
            pass
        with database.transaction() as connection:
            heading_consumer.settle(connection, [source])
        if progress:
            progress(n + 1, len(rows))
    with database.transaction() as connection:
        change_log.advance(connection, Cutter.name, Cutter.version, change_log.head(connection))
        change_log.append(connection, "reset", [0])


def _steps(database: Database, source: int) -> Iterator[None]:
    with database.snapshot() as connection:
        threads = _threads(connection, source)
        notes = [
            int(r) for (r,) in connection.execute("SELECT id FROM item WHERE source = ? AND kind = 'note'", (source,))
        ]
        document = source_rows.current_revision(connection, source) is not None
    if document:
        with database.transaction() as connection:
            cutter.recut_document(connection, source, whole=True)
        yield
    for note in notes:
        with database.transaction() as connection:
            cutter.recut_note(connection, note)
        yield
    for thread in threads:
        with database.snapshot() as connection:
            ordinals = cut_material.segment_ordinals(connection, source, thread)[::SEGMENTS_AT_ONCE]
        for start, until in itertools.pairwise(ordinals):
            with database.transaction() as connection:
                cutter.recut_between(connection, source, thread, start, until)
            yield
        with database.transaction() as connection:  # the end may have grown meanwhile
            cutter.recut_thread(connection, source, thread, ordinals[-1] if ordinals else 0)
        yield


def _threads(connection: Connection, source: int) -> list[str]:
    rows = connection.execute("SELECT DISTINCT thread FROM item WHERE source = ? AND kind = 'message'", (source,))
    return [str(thread) for (thread,) in rows]


def _clear_if_damaged(database: Database) -> None:
    """Empty the keyword index if it is damaged beyond repair. A sound one keeps answering during the rebuild."""
    with database.snapshot() as connection:
        sound = [str(row) for (row,) in connection.execute("PRAGMA integrity_check('keyword')")] == ["ok"]
    if not sound:
        with database.transaction() as connection:
            keyword_table.clear(connection)


def _reindex(database: Database) -> None:
    """Index every live drawer again, and remove entries without a live drawer."""
    with database.transaction() as connection:
        strays = connection.execute(
            "SELECT id FROM keyword_docsize WHERE id NOT IN (SELECT id FROM drawer WHERE retired_at IS NULL)"
        )
        for (row,) in list(strays):
            keyword_table.remove(connection, int(row))
    last = 0
    while True:
        with database.transaction() as connection:
            rows = [
                int(row)
                for (row,) in connection.execute(
                    "SELECT id FROM drawer WHERE retired_at IS NULL AND id > ? ORDER BY id LIMIT ?",
                    (last, _ROWS_AT_ONCE),
                )
            ]
            for row in rows:
                reindex(connection, row)
            if not rows:
                change_log.append(connection, "reset", [0])
                return
        last = rows[-1]
