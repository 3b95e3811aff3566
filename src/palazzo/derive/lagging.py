"""Consumers of the log that lag: nothing waits for them, and they take in what happened in short transactions.

What is made anew is made in the order of its row ids. How far that went is committed with what was made, so a run that
was stopped or killed goes on from there, and processes that run side by side share the work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from palazzo.store import changes
from palazzo.store.changes import Change, ChangeKind
from palazzo.store.database import Connection, Database

CHANGES_AT_ONCE = 2000
Progress = Callable[[int, int], None]
"""Told (things done, all known of)."""
Made = TypeVar("Made")


class Lagging(Protocol[Made]):
    """What is derived of things (drawers, sessions), each for itself. `Made` is what was made of some of them.

    `version` goes up when the same truth gives another result; then everything is made anew.
    """

    @property
    def name(self) -> str:
        """The name of its cursor."""
        ...

    @property
    def version(self) -> int:
        """Which rules it goes by."""
        ...

    @property
    def kinds(self) -> tuple[ChangeKind, ...]:
        """The changes that it follows."""
        ...

    @property
    def at_once(self) -> int:
        """How many things are redone in one transaction: some 30 ms of work under the lock."""
        ...

    def touched(self, connection: Connection, log: Sequence[Change]) -> list[int]:
        """Return the things that these changes are about."""
        ...

    def everything(self, connection: Connection) -> list[int]:
        """Return all things that have, or should have, something derived, ascending."""
        ...

    def make(self, connection: Connection, things: Sequence[int]) -> Made | None:
        """Make what is to be derived of these; None where that is what is there."""
        ...

    def keep(self, connection: Connection, things: Sequence[int], made: Made) -> None:
        """Let what was made of these stand for what was derived of them before."""
        ...


def behind(connection: Connection, consumer: Lagging[Made]) -> int:
    """Return how many changes it has not taken in yet; at most a few thousand are counted."""
    version, seq = changes.cursor(connection, consumer.name)
    if _anew_after(connection, consumer) is not None:
        return CHANGES_AT_ONCE
    return len(changes.since(connection, seq if version == consumer.version else 0, consumer.kinds, CHANGES_AT_ONCE))


def is_followed(connection: Connection, consumer: Lagging[Made]) -> bool:
    """Whether it has ever taken in anything."""
    return changes.cursor(connection, consumer.name) != (0, 0)


def follow(
    database: Database,
    consumer: Lagging[Made],
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> None:
    """Let a consumer take in what has happened since the last call; nothing is written where nothing has."""
    done = 0
    while not (stop and stop()):
        with database.snapshot() as connection:
            reached = changes.cursor(connection, consumer.name)
            log = changes.since(connection, reached[1], consumer.kinds, CHANGES_AT_ONCE)
            after = _anew_after(connection, consumer)
            if begins := reached[0] != consumer.version or any(change.kind == "reset" for change in log):
                things = []
            elif after is not None:
                things = [row for row in consumer.everything(connection) if row > after]
            else:
                things = consumer.touched(connection, log)
        if begins:
            _begin_anew(database, consumer, reached)
            continue
        if after is None and not log:
            return
        for start in range(0, len(things), consumer.at_once):
            if stop and stop():
                return
            _redo(database, consumer, things[start : start + consumer.at_once], None if after is None else reached)
            done += min(consumer.at_once, len(things) - start)
            if progress:
                progress(done, max(done, len(things)))
        with database.transaction() as connection:
            if changes.cursor(connection, consumer.name) != reached:
                continue  # another process was faster
            if after is not None:
                changes.drop_cursor(connection, _anew(consumer))
            else:
                changes.advance(connection, consumer.name, consumer.version, log[-1].seq)


def make_anew(database: Database, consumer: Lagging[Made]) -> None:
    """Make everything anew, if it was ever made."""
    with database.transaction() as connection:
        if not is_followed(connection, consumer):
            return
        changes.advance(connection, consumer.name, 0, changes.cursor(connection, consumer.name)[1])
    follow(database, consumer)


def start_over(connection: Connection, consumer: Lagging[Made]) -> None:
    """Let a consumer be as if it had never taken in anything."""
    changes.drop_cursor(connection, consumer.name)
    changes.drop_cursor(connection, _anew(consumer))


def _anew(consumer: Lagging[Made]) -> str:
    """The name of the cursor over things, which is there while everything is made anew."""
    return f"{consumer.name}/anew"


def _anew_after(connection: Connection, consumer: Lagging[Made]) -> int | None:
    """The last thing that was made anew; None while that is not going on."""
    version, after = changes.cursor(connection, _anew(consumer))
    return after if version else None


def _begin_anew(database: Database, consumer: Lagging[Made], reached: tuple[int, int]) -> None:
    """Everything is made anew as of now; the log is followed from here when that is done."""
    with database.transaction() as connection:
        if changes.cursor(connection, consumer.name) == reached:  # else another process has begun
            changes.advance(connection, consumer.name, consumer.version, changes.head(connection))
            changes.advance(connection, _anew(consumer), consumer.version, 0)


def _redo(database: Database, consumer: Lagging[Made], things: Sequence[int], run: tuple[int, int] | None) -> None:
    """Make some things anew; `run` is where the log had been followed to when making everything anew began."""
    with database.snapshot() as connection:
        if run and (_anew_after(connection, consumer) or 0) >= things[-1]:
            return  # another process has done it
        made = consumer.make(connection, things)
    if made is None:
        return
    with database.transaction() as connection:
        consumer.keep(connection, things, made)
        after = _anew_after(connection, consumer)
        if run == changes.cursor(connection, consumer.name) and after is not None:
            changes.advance(connection, _anew(consumer), consumer.version, max(after, things[-1]))
