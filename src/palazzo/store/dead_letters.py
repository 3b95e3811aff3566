"""Dead letters: texts that a consumer of the log failed to process and set aside, so that it can continue.

A row names the consumer, the thing and the kind of error, and contains nothing of the text. It stays until the consumer
has processed the thing, or the thing is gone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from palazzo import __version__
from palazzo.model import Micros
from palazzo.store.database import Connection


class DeadLetter(NamedTuple):
    """Something that is set aside. `label` names it for a person: `drawer 0f3c…`, `session …`, `item …`, `fact …`.

    `version` is the version of the consumer's rules, `release` that of Palazzo; `error` is the exception's class name.
    """

    consumer: str
    thing: int
    label: str
    version: int
    error: str
    at: Micros
    release: str = __version__


_COLUMNS = ", ".join(DeadLetter._fields)


def put(connection: Connection, letter: DeadLetter) -> None:
    """Store a dead letter, replacing its earlier row."""
    marks = ",".join("?" * len(letter))
    connection.execute(f"INSERT OR REPLACE INTO dead_letter({_COLUMNS}) VALUES({marks})", letter)


def all_letters(connection: Connection) -> list[DeadLetter]:
    """Return all dead letters, by consumer, oldest first."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM dead_letter ORDER BY consumer, at, thing")
    return [DeadLetter(*row) for row in rows]


def count(connection: Connection, *consumers: str) -> int:
    """Return the number of dead letters of these consumers; without any, of all consumers."""
    condition = f" WHERE consumer IN ({','.join('?' * len(consumers))})" if consumers else ""
    return int(next(connection.execute(f"SELECT count(*) FROM dead_letter{condition}", consumers))[0])


def things(connection: Connection, consumer: str) -> frozenset[int]:
    """Return the row ids in a consumer's dead letters."""
    rows = connection.execute("SELECT thing FROM dead_letter WHERE consumer = ?", (consumer,))
    return frozenset(int(thing) for (thing,) in rows)


def of_other_releases(connection: Connection, consumer: str) -> list[int]:
    """Return the row ids in dead letters of another release of Palazzo, which this release may process."""
    rows = connection.execute(
        "SELECT thing FROM dead_letter WHERE consumer = ? AND release <> ? ORDER BY thing", (consumer, __version__)
    )
    return [int(thing) for (thing,) in rows]


def clear(connection: Connection, consumer: str, rows: Iterable[int]) -> None:
    """Remove the dead letters of these row ids."""
    connection.execute(
        "DELETE FROM dead_letter WHERE consumer = ? AND thing IN (SELECT value FROM json_each(?))",
        (consumer, json.dumps(list(rows))),
    )


def clear_drawers(connection: Connection, drawers: Iterable[int]) -> None:
    """Remove dead letters of retired or rebuilt drawers, for consumers that process only live drawers."""
    for consumer in ("keyword", "embed"):
        clear(connection, consumer, drawers)


def clear_consumer(connection: Connection, consumer: str) -> None:
    """Remove all dead letters of a consumer."""
    connection.execute("DELETE FROM dead_letter WHERE consumer = ?", (consumer,))
