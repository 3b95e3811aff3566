"""Derived data, by one mechanism: named, versioned consumers of the change log.

A consumer keeps a cursor into the log and brings its data up to date with the primary data. `cutter` runs inside every
write's own transaction, so drawers and the keyword index are never behind. `passage_embedding` runs in the background.
A rebuild resets a cursor; the result is the same, because it is a function of the primary data alone.
"""

from __future__ import annotations

from typing import Protocol

from palazzo.store import change_log
from palazzo.store.change_log import Change, ChangeKind
from palazzo.store.database import Connection

_NO_LIMIT = 1 << 60
CUTTER_NAME = "cut"
"""The name of the consumer that runs in each write's own transaction."""
CUTTER_KINDS: tuple[ChangeKind, ...] = ("item", "revision", "act", "erased", "source")
"""The changes that it follows."""


class Consumer(Protocol):
    """A kind of derived data: its name, the changes that it follows, and how it applies a change.

    `version` increases when the same source data gives another result; a palace that was derived by another version is
    rebuilt.
    """

    name: str
    version: int
    kinds: tuple[ChangeKind, ...]

    def apply_changes(self, connection: Connection, log: list[Change]) -> None:
        """Update the derived data with these changes, in the caller's transaction."""
        ...


def follow(connection: Connection, consumer: Consumer) -> None:
    """Let `consumer` process all changes since its last run, in this transaction.

    The cursor keeps its version: data that an earlier version derived is outdated until it is rebuilt.
    """
    version, seq = change_log.cursor(connection, consumer.name)
    log = change_log.since(connection, seq, consumer.kinds, _NO_LIMIT)
    if not log:
        return
    consumer.apply_changes(connection, log)
    change_log.advance(connection, consumer.name, version or consumer.version, log[-1].seq)


def is_outdated(connection: Connection, consumer: Consumer) -> bool:
    """Return whether the data of `consumer` was derived by another version of it, and must be rebuilt."""
    version, seq = change_log.cursor(connection, consumer.name)
    return seq > 0 and version != consumer.version
