"""The retry of everything that consumers have set aside (`store/dead_letters`)."""

from __future__ import annotations

from palazzo.derive import lagging
from palazzo.derive.claiming import FACTS
from palazzo.derive.consumers import lagging_consumers
from palazzo.model import Micros
from palazzo.store import dead_letters
from palazzo.store.database import Database


def retry_all(database: Database, now: Micros) -> None:
    """Try again what is set aside; what fails again stays so. Conflicts that come of it are found at `now`."""
    with database.snapshot() as connection:
        if not dead_letters.count(connection):
            return
    with database.transaction() as connection:
        dead_letters.clear_consumer(connection, FACTS)  # they are tried with the next drawer that they may contradict
    for consumer in lagging_consumers(now):
        lagging.retry(database, consumer)
