"""Answered calls, by their keys, so that a repeated call gets the same answer and is carried out once.

    answered      `result` is the answer, as `operations/serialisation` writes it
    interrupted   `result` is empty: a long call that commits in steps had made some of them
    bare          `asked` and `result` are NULL: an erase removed the words of the request and the answer

The row of a call is committed with what the call wrote (`Database.held`). A key and a request are stored only as
hashes, because either may contain words.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store import tombstones
from palazzo.store.database import Connection, Database

RETENTION_MICROS = 7 * 24 * 60 * 60 * 1_000_000
"""How long a call is remembered, in microseconds: longer than any client retries an unanswered call."""
_DROPPED_AT_ONCE = 8


@frozen
class Call:
    """A requested call: its key, its operation, and a hash of the whole request."""

    key: str
    operation: str
    request_hash: bytes

    @property
    def key_hash(self) -> bytes:
        """Return the key in its stored form."""
        return hashlib.sha256(self.key.encode("utf-8", "surrogatepass")).digest()


@frozen
class CallRecord:
    """The record of a call: see the module for the values of `asked` and `result`. `at` is when it began."""

    operation: str
    request_hash: bytes | None
    result: str | None
    at: Micros

    @property
    def is_interrupted(self) -> bool:
        """Whether only some of the call's steps were made."""
        return self.result == ""


class MadeMeanwhile(Exception):
    """The call was answered elsewhere after it was looked up here."""

    def __init__(self, record: CallRecord) -> None:
        self.known = record
        super().__init__()


def find(connection: Connection, call: Call) -> CallRecord | None:
    """Return the record of a call; None if it was not made."""
    rows = connection.execute("SELECT operation, asked, result, at FROM call WHERE key = ?", (call.key_hash,))
    return next((CallRecord(*row) for row in rows), None)


def forget_words(connection: Connection) -> None:
    """Drop requests and results. It stays recorded that a call was made, so that it is not made again."""
    connection.execute("UPDATE call SET asked = NULL, result = CASE result WHEN '' THEN '' END")


class Answer:
    """The answer of a call in progress, once it is known."""

    def __init__(self) -> None:
        self.result = ""

    def is_(self, result: str) -> None:
        """Set the answer."""
        self.result = result


@contextlib.contextmanager
def record_call(database: Database, call: Call, now: Micros) -> Iterator[Answer]:
    """Commit what this thread writes in the block together with the call's answer, or nothing if it raises.

    A call that writes nothing is not stored. Raises MadeMeanwhile if another process was faster.
    """
    answer = Answer()
    with database.snapshot() as connection:
        erasures = tombstones.count_erasures(connection)

    def look(connection: Connection) -> None:
        record = find(connection, call)
        if record is not None and not record.is_interrupted:
            raise MadeMeanwhile(record)

    def keep(connection: Connection) -> None:
        # Words that were erased since the call began may stand in what it answers.
        bare = tombstones.count_erasures(connection) != erasures
        _keep(connection, call, answer.result, now, bare)

    with database.hold_commits(look, keep):
        yield answer


def _keep(connection: Connection, call: Call, result: str, now: Micros, bare: bool) -> None:
    connection.execute(
        "DELETE FROM call WHERE key IN (SELECT key FROM call WHERE at < ? ORDER BY at LIMIT ?)",
        (now - RETENTION_MICROS, _DROPPED_AT_ONCE),
    )
    request_hash, stored_result = (None, None if result else "") if bare else (call.request_hash, result)
    connection.execute(
        "INSERT INTO call(key, operation, asked, result, at) VALUES(?, ?, ?, ?, ?)"
        " ON CONFLICT(key) DO UPDATE SET asked = excluded.asked, result = excluded.result",
        (call.key_hash, call.operation, request_hash, stored_result, now),
    )
