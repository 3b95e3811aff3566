"""Fix consumer: failures of every session and their fixes, read again when a session has grown or lost words."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from palazzo.knowledge.failures import Failure, failures
from palazzo.sessions.call_targets import Target
from palazzo.sessions.session_reader import OfSessions, Session, session
from palazzo.store import digest_rows, failure_fixes, redaction_state
from palazzo.store.database import Connection
from palazzo.store.failure_fixes import MendingRow, PlaceRow

_SIZE = 16


class FailureConsumer(OfSessions):
    """The consumer that stores failures."""

    name = "mending"
    version = 6

    def everything(self, connection: Connection) -> list[int]:
        """Return all sessions, including those with stored failures."""
        return sorted({*digest_rows.all_sessions(connection), *failure_fixes.sources(connection)})

    def make(self, connection: Connection, things: Sequence[int]) -> dict[int, list[MendingRow]] | None:
        """Process these sessions again."""
        output = {source: expected(connection, source) for source in things}
        same = all(rows == failure_fixes.of_source(connection, source) for source, rows in output.items())
        return None if same else output

    def keep(self, connection: Connection, things: Sequence[int], output: dict[int, list[MendingRow]]) -> None:
        """Store their failures."""
        for source in things:
            failure_fixes.replace(connection, source, output[source])

    def drop(self, connection: Connection, things: Sequence[int]) -> None:
        """Remove the failures of these sessions."""
        for source in things:
            failure_fixes.replace(connection, source, [])


FAILURE_CONSUMER = FailureConsumer()


def expected(connection: Connection, source: int) -> list[MendingRow]:
    """Return the failures found in a session's words, without forgotten text and untrusted lines."""
    read = session(connection, source, with_outside=True)
    key = redaction_state.fingerprint_key(connection)
    visible_failures = [
        failure for failure in failures(read.messages) if not read.is_forgotten([failure.command, *failure.lines])
    ]
    return [_row(source, n, failure, read, key) for n, failure in enumerate(visible_failures)]


def marks(connection: Connection, target: Target | None, signature: str) -> tuple[bytes, bytes]:
    """Return the stored form of a target and a signature, keyed by the palace: empty if there is none."""
    return _marks(redaction_state.fingerprint_key(connection), target, signature)


def _marks(key: bytes, target: Target | None, signature: str) -> tuple[bytes, bytes]:
    pairs = ("target", "\0".join(target or ())), ("signature", signature)
    return tuple(  # type: ignore[return-value]
        hmac.digest(key, f"{kind}\0{words}".encode("utf-8", "surrogatepass"), hashlib.sha256)[:_SIZE] if words else b""
        for kind, words in pairs
    )


def _row(source: int, n: int, failure: Failure, read: Session, key: bytes) -> MendingRow:
    target, signature = _marks(key, failure.target, failure.signature)
    places = [PlaceRow("command", *failure.command), *(PlaceRow("error", *line) for line in failure.lines)]
    passed_as = () if failure.passed_as is None else (failure.passed_as,)
    for kind, spots in (("edited", failure.edits), ("ran", failure.ran), ("passed", passed_as)):
        places += [PlaceRow(kind, *spot) for spot in spots if not read.is_forgotten([spot])]
    if not failure.is_known:
        places.append(PlaceRow("unknown", *failure.command))
    passed_at = None if failure.passed is None else read.times[failure.passed.item]
    return MendingRow(source, n, target, signature, read.times[failure.result.item], passed_at, tuple(places))
