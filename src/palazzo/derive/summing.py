"""The digest of every session, made anew when it has grown, or words of it were forgotten or erased."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.derive import material
from palazzo.derive.digesting import Line, Said, digest
from palazzo.model import Part
from palazzo.store import digests
from palazzo.store.changes import Change, ChangeKind
from palazzo.store.database import Connection
from palazzo.store.digests import LineRow


class Summing:
    """The consumer that keeps the lines of digests."""

    name = "digest"
    version = 2
    kinds: tuple[ChangeKind, ...] = ("item", "act", "erased", "reset")
    at_once = 1

    def touched(self, connection: Connection, log: Sequence[Change]) -> list[int]:
        """Return the sessions that these changes are about."""
        items = {change.ref for change in log if change.kind in ("item", "erased")}
        acts = {change.ref for change in log if change.kind == "act"}
        return sorted({*digests.sessions_of(connection, items), *digests.sessions_of_acts(connection, acts)})

    def everything(self, connection: Connection) -> list[int]:
        """Return all sessions."""
        return digests.all_sessions(connection)

    def make(self, connection: Connection, things: Sequence[int]) -> dict[int, list[LineRow]] | None:
        """Digest these sessions anew."""
        made = {source: expected(connection, source) for source in things}
        same = all(rows == digests.of_source(connection, source) for source, rows in made.items())
        return None if same else made

    def keep(self, connection: Connection, things: Sequence[int], made: dict[int, list[LineRow]]) -> None:
        """Keep their lines."""
        for source in things:
            digests.replace(connection, source, made[source])


SUMMING = Summing()


def expected(connection: Connection, source: int) -> list[LineRow]:
    """Return the lines that a session's words call for: not what is forgotten or from outside.

    A sub-agent's session is its own thread; where a session has its sub-agents' words beside it, its own are read.
    """
    threads = digests.threads_of(connection, source)
    read = threads[:1] if "" in threads else threads
    rows = [row for thread in read for row, _, _ in material.thread_rows(connection, source, thread, -1)]
    loaded, _ = material.load(connection, rows)
    holes = {item.row: item.holes for item in loaded}
    said = [
        Said(
            item.row,
            item.role,
            item.text,
            tuple(one for one in item.parts or (Part("text", 0, len(item.text)),) if one.trust != "external"),
        )
        for item in loaded
        if item.trust != "external"
    ]
    lines = [line for line in digest(said) if not _forgotten(line, holes)]
    times = {item.row: item.filed.created_at for item in loaded}
    rows_of_lines = []
    for n, line in enumerate(lines):
        item, start, end = line.about or (None, None, None)
        where = line.item, line.start, line.end
        rows_of_lines.append(LineRow(source, n, line.kind, *where, item, start, end, times[line.item]))
    return rows_of_lines


def _forgotten(line: Line, holes: dict[int, tuple[tuple[int, int], ...]]) -> bool:
    places = [(line.item, line.start, line.end), *([line.about] if line.about else [])]
    return any(low < end and start < high for item, start, end in places for low, high in holes.get(item, ()))
