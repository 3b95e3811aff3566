"""The backlog is what a palace has not processed yet; a palace that is open for reading gets a writer for it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from palazzo.derived import async_consumer
from palazzo.derived.async_consumer import Output
from palazzo.errors import PalaceUnusable
from palazzo.index import retired_drawers
from palazzo.store import schema
from palazzo.store.database import Database


def migrate_older(database: Database) -> None:
    """Migrate a palace of an earlier Palazzo, if it can be written."""
    if schema.is_older(database):
        with contextlib.suppress(PalaceUnusable), contextlib.closing(Database(database.path)) as writable:
            schema.migrate(writable)


def process_past(database: Database, progress: retired_drawers.Progress | None = None) -> None:
    """Process the earlier states of drawers. A palace that cannot be written is read as far as it was processed."""
    if database.mode == "write":
        with database.commit_separately():
            retired_drawers.follow_retired(database, progress)
        return
    with database.snapshot() as connection:
        if retired_drawers.is_followed(connection) and not retired_drawers.count_pending(connection):
            return
    with contextlib.suppress(PalaceUnusable), contextlib.closing(Database(database.path)) as writable:
        retired_drawers.follow_retired(writable, progress)


def run_consumer(
    database: Database,
    consumer: async_consumer.BackgroundConsumer[Output],
    progress: async_consumer.Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> None:
    """Run a consumer. A palace that cannot be written is read as far as it was processed."""
    if database.mode == "write":
        with database.commit_separately():
            async_consumer.follow(database, consumer, progress, stop)
        return
    with database.snapshot() as connection:
        if async_consumer.is_followed(connection, consumer) and not async_consumer.count_pending(connection, consumer):
            return
    with contextlib.suppress(PalaceUnusable), contextlib.closing(Database(database.path)) as writable:
        async_consumer.follow(writable, consumer, progress, stop)
