"""Retry of the things that consumers have set aside (`store/dead_letters`)."""

from __future__ import annotations

from palazzo.derived import async_consumer, taint_consumer
from palazzo.derived.claim_consumer import retry_facts
from palazzo.derived.consumers import lagging_consumers
from palazzo.derived.cutter import Cutter, recut_items
from palazzo.index import indexed_text, retired_drawers
from palazzo.index import passage_embedding as embedding
from palazzo.model import Micros
from palazzo.store import dead_letters, vector_rows
from palazzo.store.database import Database

_ITEM_CONSUMERS = (Cutter.name, taint_consumer.CONSUMER)
_DRAWER_CONSUMERS = (indexed_text.CONSUMER, retired_drawers.NAME, embedding.CONSUMER)


def retry_all(database: Database, time: Micros) -> None:
    """Retry everything that is set aside. `time` is recorded with the conflicts that this finds."""
    with database.snapshot() as connection:
        letters = dead_letters.all_letters(connection)
    if letters:
        _retry_cut(database, sorted({letter.thing for letter in letters if letter.consumer in _ITEM_CONSUMERS}))
        _retry_drawers(
            database, [(letter.consumer, letter.thing) for letter in letters if letter.consumer in _DRAWER_CONSUMERS]
        )
        with database.transaction() as connection:
            retry_facts(connection)
        for consumer in lagging_consumers(time):
            async_consumer.retry(database, consumer)


def retry_of_other_releases(database: Database) -> None:
    """Retry what another release of Palazzo could not cut, index or embed.

    Asynchronous consumers do the same by themselves.
    """
    with database.snapshot() as connection:
        items = {row for name in _ITEM_CONSUMERS for row in dead_letters.of_other_releases(connection, name)}
        drawers = [
            (name, row) for name in _DRAWER_CONSUMERS for row in dead_letters.of_other_releases(connection, name)
        ]
    _retry_cut(database, sorted(items))
    _retry_drawers(database, drawers)


def _retry_cut(database: Database, items: list[int]) -> None:
    for item in items:
        with database.transaction() as connection:
            recut_items(connection, [item])


def _retry_drawers(database: Database, drawers: list[tuple[str, int]]) -> None:
    """Process drawers again, each by the consumer that set it aside."""
    for consumer, drawer in drawers:
        with database.transaction() as connection:
            if consumer == indexed_text.CONSUMER:
                indexed_text.reindex(connection, drawer)
            elif consumer == retired_drawers.NAME:
                retired_drawers.redo(connection, [drawer])
            else:
                dead_letters.clear(connection, consumer, [drawer])
                vector_rows.await_vectors(connection, [drawer])
