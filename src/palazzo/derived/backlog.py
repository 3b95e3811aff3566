"""The backlog is what a palace has not processed yet; a palace that is open for reading gets a writer for it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterator

from palazzo.derived import async_consumer
from palazzo.derived.async_consumer import Output
from palazzo.derived.consumers import lagging_consumers
from palazzo.errors import PalaceUnusable
from palazzo.index import retired_drawers
from palazzo.model import Micros
from palazzo.store.database import Database


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


class _Limit(threading.local):
    """The processor time of this thread at which consumers stop."""

    ends_at = float("inf")

    @property
    def is_reached(self) -> bool:
        """Whether the time is over."""
        return time.thread_time() >= self.ends_at


_limit = _Limit()


@contextlib.contextmanager
def limit_work(seconds: float) -> Iterator[None]:
    """Limit the processor time that consumers take in this thread within the block; with 0, none is run."""
    outer_end = _limit.ends_at
    _limit.ends_at = min(outer_end, time.thread_time() + seconds)
    try:
        yield
    finally:
        _limit.ends_at = outer_end


def pending_consumers(database: Database, names: Collection[str]) -> list[str]:
    """Return those of these consumers that have changes to process."""
    with database.snapshot() as connection:
        return [
            consumer.name
            for consumer in lagging_consumers(Micros(0))
            if consumer.name in names and async_consumer.count_pending(connection, consumer)
        ]


def run_consumer(
    database: Database,
    consumer: async_consumer.BackgroundConsumer[Output],
    progress: async_consumer.Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> None:
    """Run a consumer. A palace that cannot be written is read as far as it was processed."""
    if _limit.is_reached:
        return

    def is_over() -> bool:
        return _limit.is_reached or bool(stop and stop())

    if database.mode == "write":
        with database.commit_separately():
            async_consumer.follow(database, consumer, progress, is_over)
        return
    with database.snapshot() as connection:
        if async_consumer.is_followed(connection, consumer) and not async_consumer.count_pending(connection, consumer):
            return
    with contextlib.suppress(PalaceUnusable), contextlib.closing(Database(database.path)) as writable:
        async_consumer.follow(writable, consumer, progress, is_over)
