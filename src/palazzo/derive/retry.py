"""The retry of what consumers have set aside (`store/dead_letters`)."""

from __future__ import annotations

from palazzo.derive import embed as embedding
from palazzo.derive import exposing, indexing, lagging, retired
from palazzo.derive.claiming import retry_facts
from palazzo.derive.consumers import lagging_consumers
from palazzo.derive.cut import Cutter, recut_items
from palazzo.model import Micros
from palazzo.store import dead_letters, vectors
from palazzo.store.database import Database


def retry_all(database: Database, now: Micros) -> None:
    """Try again what is set aside; what fails again stays so. Conflicts that come of it are found at `now`."""
    with database.snapshot() as connection:
        letters = dead_letters.all_letters(connection)
    if letters:
        _retry_cut(database, sorted({one.thing for one in letters if one.consumer in (Cutter.name, exposing.CONSUMER)}))
        _retry_drawers(database, {one.thing: one.consumer for one in letters})
        with database.transaction() as connection:
            retry_facts(connection)
        for consumer in lagging_consumers(now):
            lagging.retry(database, consumer)


def retry_of_other_releases(database: Database) -> None:
    """Try again what another release of Palazzo could not cut, index or embed; consumers that lag do so themselves."""
    with database.snapshot() as connection:
        items = {
            row for name in (Cutter.name, exposing.CONSUMER) for row in dead_letters.of_other_releases(connection, name)
        }
        drawers = {
            row: name
            for name in (indexing.CONSUMER, retired.NAME, embedding.CONSUMER)
            for row in dead_letters.of_other_releases(connection, name)
        }
    _retry_cut(database, sorted(items))
    _retry_drawers(database, drawers)


def _retry_cut(database: Database, items: list[int]) -> None:
    for item in items:
        with database.transaction() as connection:
            recut_items(connection, [item])


def _retry_drawers(database: Database, drawers: dict[int, str]) -> None:
    """Try drawers again, each by the consumer that set it aside."""
    for drawer, consumer in drawers.items():
        with database.transaction() as connection:
            if consumer == indexing.CONSUMER:
                indexing.reindex(connection, drawer)
            elif consumer == retired.NAME:
                retired.redo(connection, [drawer])
            elif consumer == embedding.CONSUMER:
                dead_letters.clear(connection, consumer, [drawer])
                vectors.await_vectors(connection, [drawer])
