"""Derived data, by one mechanism: named, versioned consumers of the change log.

A consumer keeps a cursor into the log and brings what it owns up to date with truth. `cut` follows inside
every write's own transaction, so drawers and the keyword index are never behind. `embed` follows in the
background. A rebuild resets a cursor; what comes out is the same, because it is a function of truth alone.
"""

from __future__ import annotations

from typing import Protocol

from palazzo.store import change_log
from palazzo.store.change_log import Change, ChangeKind
from palazzo.store.database import Connection

_NO_LIMIT = 1 << 60


class Consumer(Protocol):
    """Something derived: what it is called, what it follows, and how it takes a change in.

    `version` goes up when the same truth gives another result; a palace that was derived by another version
    is rebuilt.
    """

    name: str
    version: int
    kinds: tuple[ChangeKind, ...]

    def apply_changes(self, connection: Connection, log: list[Change]) -> None:
        """Bring what is derived up to date with these changes, in the caller's transaction."""
        ...


def follow(connection: Connection, consumer: Consumer) -> None:
    """Let `consumer` take in all that happened since it last ran, in this transaction."""
    _, seq = change_log.cursor(connection, consumer.name)
    log = change_log.since(connection, seq, consumer.kinds, _NO_LIMIT)
    if not log:
        return
    consumer.apply_changes(connection, log)
    change_log.advance(connection, consumer.name, consumer.version, log[-1].seq)


def is_outdated(connection: Connection, consumer: Consumer) -> bool:
    """Whether what `consumer` owns was derived by another version of it, and wants to be made anew."""
    version, seq = change_log.cursor(connection, consumer.name)
    return seq > 0 and version != consumer.version
