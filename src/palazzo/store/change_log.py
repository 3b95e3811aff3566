"""The change log, and the position of each consumer in it.

Every write appends a row under the write lock, so `seq` orders all writers. Truth and derived data share the log: a
cutter follows `item`, `revision` and `act`; the vector matrix follows `drawer+`, `drawer-`, `drawer~` and `vector+`.
`fact` names facts of which a version was recorded or retired. `erased` names items that lost words: everything derived
from them is derived again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from palazzo.store.database import Connection

ChangeKind = Literal[
    "item", "revision", "act", "drawer+", "drawer-", "drawer~", "vector+", "reset", "fact", "erased", "source"
]


class Change(NamedTuple):
    """One row of the log; `ref` is the row id of what changed in the table of its kind."""

    seq: int
    kind: ChangeKind
    ref: int


def append(connection: Connection, kind: ChangeKind, refs: Iterable[int]) -> None:
    """Record that the rows `refs` changed."""
    connection.executemany("INSERT INTO change(kind, ref) VALUES(?, ?)", ((kind, ref) for ref in refs))


def head(connection: Connection) -> int:
    """Return the newest sequence number, 0 in an empty palace."""
    for (seq,) in connection.execute("SELECT seq FROM change ORDER BY seq DESC LIMIT 1"):
        return int(seq)
    return 0


def since(connection: Connection, seq: int, kinds: Sequence[ChangeKind], limit: int) -> list[Change]:
    """Return up to `limit` changes after `seq` of the given kinds, oldest first."""
    marks = ",".join("?" * len(kinds))
    rows = connection.execute(
        f"SELECT seq, kind, ref FROM change WHERE seq > ? AND kind IN ({marks}) ORDER BY seq LIMIT ?",
        (seq, *kinds, limit),
    )
    return [Change(*row) for row in rows]


def newest_until(connection: Connection, seq: int, limit: int) -> list[Change]:
    """Return the newest `limit` changes up to `seq`, newest first."""
    rows = connection.execute(
        "SELECT seq, kind, ref FROM change WHERE seq <= ? ORDER BY seq DESC LIMIT ?", (seq, limit)
    )
    return [Change(*row) for row in rows]


def cursor(connection: Connection, consumer: str) -> tuple[int, int]:
    """Return (version, seq) that `consumer` has reached; (0, 0) if it has never run."""
    for version, seq in connection.execute("SELECT version, seq FROM cursor WHERE consumer = ?", (consumer,)):
        return int(version), int(seq)
    return 0, 0


def advance(connection: Connection, consumer: str, version: int, seq: int) -> None:
    """Record that `consumer`, at `version`, has processed the log up to `seq`."""
    list(
        connection.execute(
            "INSERT INTO cursor(consumer, version, seq) VALUES(?, ?, ?) "
            "ON CONFLICT(consumer) DO UPDATE SET version = excluded.version, seq = excluded.seq",
            (consumer, version, seq),
        )
    )


def drop_cursor(connection: Connection, consumer: str) -> None:
    """Reset `consumer`, as if it had never run."""
    list(connection.execute("DELETE FROM cursor WHERE consumer = ?", (consumer,)))
