"""Dead letters: the texts that a consumer of the log cannot process, each set aside so that the rest goes on.

A row says which consumer, which of its things, and what kind of error; it has no word of the text. It is there until
the consumer has processed the thing, or the thing is gone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from palazzo import __version__
from palazzo.model import Micros
from palazzo.store.database import Connection


class DeadLetter(NamedTuple):
    """A thing that was set aside. `label` names it for a person: `drawer 0f3c…`, `session …`, `item …`, `fact …`.

    `version` is that of the consumer's rules, `release` that of Palazzo; `error` is the name of the exception's class.
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
    """Set a thing aside, in place of what was known of it before."""
    marks = ",".join("?" * len(letter))
    connection.execute(f"INSERT OR REPLACE INTO dead_letter({_COLUMNS}) VALUES({marks})", letter)


def all_letters(connection: Connection) -> list[DeadLetter]:
    """Return what is set aside, by consumer, oldest first."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM dead_letter ORDER BY consumer, at, thing")
    return [DeadLetter(*row) for row in rows]


def count(connection: Connection, *consumers: str) -> int:
    """Return how many things are set aside: by any consumer, or by these."""
    where = f" WHERE consumer IN ({','.join('?' * len(consumers))})" if consumers else ""
    return int(next(connection.execute(f"SELECT count(*) FROM dead_letter{where}", consumers))[0])


def things(connection: Connection, consumer: str) -> frozenset[int]:
    """Return the things that a consumer has set aside."""
    rows = connection.execute("SELECT thing FROM dead_letter WHERE consumer = ?", (consumer,))
    return frozenset(int(thing) for (thing,) in rows)


def of_other_releases(connection: Connection, consumer: str) -> list[int]:
    """Return the things that another release of Palazzo has set aside: this one may process them."""
    rows = connection.execute(
        "SELECT thing FROM dead_letter WHERE consumer = ? AND release <> ? ORDER BY thing", (consumer, __version__)
    )
    return [int(thing) for (thing,) in rows]


def clear(connection: Connection, consumer: str, those: Iterable[int]) -> None:
    """Let things be set aside no longer."""
    connection.execute(
        "DELETE FROM dead_letter WHERE consumer = ? AND thing IN (SELECT value FROM json_each(?))",
        (consumer, json.dumps(list(those))),
    )


def clear_drawers(connection: Connection, drawers: Iterable[int]) -> None:
    """Let drawers that are retired or made anew be set aside no longer by what follows live drawers alone."""
    for consumer in ("keyword", "embed"):
        clear(connection, consumer, drawers)


def clear_consumer(connection: Connection, consumer: str) -> None:
    """Let nothing be set aside by a consumer any longer."""
    connection.execute("DELETE FROM dead_letter WHERE consumer = ?", (consumer,))
