"""Consumers of the log that lag: nothing waits for them, and they take in what happened in short transactions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from palazzo.store import changes
from palazzo.store.changes import Change, ChangeKind
from palazzo.store.database import Connection, Database

CHANGES_AT_ONCE = 2000
Progress = Callable[[int, int], None]
"""Told (things done, all known of)."""


class Lagging(Protocol):
    """What is derived of things (drawers, sessions), each for itself.

    `version` goes up when the same truth gives another result; then everything is made anew.
    """

    name: str
    version: int
    kinds: tuple[ChangeKind, ...]
    at_once: int
    """How many things are redone in one transaction: some 30 ms of work under the lock."""

    def touched(self, connection: Connection, log: Sequence[Change]) -> list[int]:
        """Return the things that these changes are about."""
        ...

    def everything(self, connection: Connection) -> list[int]:
        """Return all things that have, or should have, something derived."""
        ...

    def redo(self, database: Database, things: Sequence[int]) -> None:
        """Make what is derived of these anew."""
        ...


def behind(connection: Connection, consumer: Lagging) -> int:
    """Return how many changes it has not taken in yet; at most a few thousand are counted."""
    version, seq = changes.cursor(connection, consumer.name)
    return len(changes.since(connection, seq if version == consumer.version else 0, consumer.kinds, CHANGES_AT_ONCE))


def is_followed(connection: Connection, consumer: Lagging) -> bool:
    """Whether it has ever taken in anything."""
    return changes.cursor(connection, consumer.name) != (0, 0)


def follow(
    database: Database, consumer: Lagging, progress: Progress | None = None, stop: Callable[[], bool] | None = None
) -> None:
    """Let a consumer take in what has happened since the last call; nothing is written where nothing has."""
    done = 0
    while not (stop and stop()):
        with database.snapshot() as connection:
            version, seq = changes.cursor(connection, consumer.name)
            same = version == consumer.version
            log = changes.since(connection, seq, consumer.kinds, CHANGES_AT_ONCE) if same else []
            anew = not same or any(change.kind == "reset" for change in log)
            things = consumer.everything(connection) if anew else consumer.touched(connection, log)
            reached = changes.head(connection) if anew else log[-1].seq if log else seq
        if same and reached == seq:
            return
        for start in range(0, len(things), consumer.at_once):
            if stop and stop():
                return
            consumer.redo(database, things[start : start + consumer.at_once])
            done += min(consumer.at_once, len(things) - start)
            if progress:
                progress(done, max(done, len(things)))
        with database.transaction() as connection:
            if changes.cursor(connection, consumer.name) == (version, seq):  # else another process was faster
                changes.advance(connection, consumer.name, consumer.version, reached)


def make_anew(database: Database, consumer: Lagging) -> None:
    """Make everything anew, if it was ever made."""
    with database.transaction() as connection:
        if not is_followed(connection, consumer):
            return
        changes.advance(connection, consumer.name, 0, changes.cursor(connection, consumer.name)[1])
    follow(database, consumer)
