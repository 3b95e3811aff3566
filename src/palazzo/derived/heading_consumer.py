"""Heading consumer: the drawers by which titles, directories and paths of sources are found.

The cutter settles the sources that it cuts, in the same transaction. This consumer settles the others: those of a
palace that an earlier Palazzo filled, and those whose first drawer was retired by the cutting of another session.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from palazzo.index.indexed_text import reindex
from palazzo.index.vector_keys import heading_hash
from palazzo.store import change_log, drawers, source_headings, source_rows
from palazzo.store.change_log import Change, ChangeKind
from palazzo.store.database import Connection

Heading = tuple[int, int | None, bytes | None]
"""A source, the drawer that should stand for it, and the hash of its words."""


class HeadingConsumer:
    """The consumer that finds the first drawers of sources."""

    name = "heading"
    version = 2
    kinds: tuple[ChangeKind, ...] = ("drawer-", "reset")
    at_once = 50

    def find_affected_things(self, connection: Connection, log: Sequence[Change]) -> list[int]:
        """Return the sources whose first drawer was retired."""
        return sorted(source_headings.sources_of(connection, [change.ref for change in log]))

    def everything(self, connection: Connection) -> list[int]:
        """Return all sources that have drawers."""
        return source_headings.sources_with_drawers(connection)

    def make(self, connection: Connection, things: Sequence[int]) -> list[Heading] | None:
        """Return the headings of these sources that are not stored yet; None if all are."""
        return expected(connection, things) or None

    def keep(self, connection: Connection, things: Sequence[int], output: list[Heading]) -> None:
        """Store the headings of these sources as they are now."""
        settle(connection, things)

    def drop(self, connection: Connection, things: Sequence[int]) -> None:
        """Remove the headings of these sources."""
        for source in things:
            _replace(connection, source, None, None)

    def label(self, connection: Connection, thing: int) -> str:
        """Return a source's title or address for a person."""
        source = source_rows.read_source(connection, thing)
        return source.title or source.uri


HEADING_CONSUMER = HeadingConsumer()


def expected(connection: Connection, sources: Iterable[int]) -> list[Heading]:
    """Return those of the sources whose stored heading is not that of their first drawer, with what it should be."""
    return [
        (source, *heading)
        for source in sources
        if (heading := _heading_of(connection, source)) != source_headings.read_heading(connection, source)
    ]


def settle(connection: Connection, sources: Iterable[int]) -> None:
    """Index the first drawer of each source by the source's words, if another drawer or other words are so far."""
    for heading in expected(connection, sources):
        _replace(connection, *heading)


def reword(connection: Connection, sources: Iterable[int]) -> None:
    """Index the first drawer of each source again, as the source has another title."""
    for source in sources:
        drawer = source_headings.stored_drawer(connection, source)
        _replace(connection, source, drawer, heading_hash(connection, source, drawer))


def _heading_of(connection: Connection, source: int) -> tuple[int | None, bytes | None]:
    drawer = source_headings.find_first_drawer(connection, source)
    return drawer, heading_hash(connection, source, drawer)


def _replace(connection: Connection, source: int, drawer: int | None, digest: bytes | None) -> None:
    former = source_headings.stored_drawer(connection, source)
    source_headings.store(connection, source, drawer, digest)
    for row in dict.fromkeys((former, drawer)):
        _reindex(connection, row)


def _reindex(connection: Connection, drawer: int | None) -> None:
    if drawer is not None and drawers.is_live(connection, drawer):
        reindex(connection, drawer)
        change_log.append(connection, "drawer~", [drawer])
