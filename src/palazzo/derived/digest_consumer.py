"""Digest consumer: the digest of every session, made again when it has grown, or words were forgotten or erased."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.knowledge.session_digest import digest
from palazzo.sessions.session_reader import OfSessions, session
from palazzo.store import digest_rows
from palazzo.store.database import Connection
from palazzo.store.digest_rows import LineRow


class DigestConsumer(OfSessions):
    """The consumer that stores the lines of digests."""

    name = "digest"
    version = 9

    def everything(self, connection: Connection) -> list[int]:
        """Return all sessions."""
        return digest_rows.all_sessions(connection)

    def make(self, connection: Connection, things: Sequence[int]) -> dict[int, list[LineRow]] | None:
        """Digest these sessions again."""
        output = {source: expected(connection, source) for source in things}
        same = all(rows == digest_rows.of_source(connection, source) for source, rows in output.items())
        return None if same else output

    def keep(self, connection: Connection, things: Sequence[int], output: dict[int, list[LineRow]]) -> None:
        """Store their lines."""
        for source in things:
            digest_rows.replace(connection, source, output[source])

    def drop(self, connection: Connection, things: Sequence[int]) -> None:
        """Remove the lines of these sessions."""
        for source in things:
            digest_rows.replace(connection, source, [])


DIGEST_CONSUMER = DigestConsumer()


def expected(connection: Connection, source: int) -> list[LineRow]:
    """Return the expected digest lines of a session, without forgotten text and untrusted content."""
    read = session(connection, source, with_outside=True)
    lines = [
        line
        for line in digest(read.messages)
        if not read.is_forgotten([(line.item, line.start, line.end), *([line.about] if line.about else [])])
    ]
    rows_of_lines = []
    for n, line in enumerate(lines):
        item, start, end = line.about or (None, None, None)
        place = line.item, line.start, line.end
        rows_of_lines.append(LineRow(source, n, line.kind, *place, item, start, end, read.times[line.item]))
    return rows_of_lines
