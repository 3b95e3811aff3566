"""Filing one conversation: where it belongs, and its rows in batches, each with how far the source was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Protocol

from palazzo.archive import door, heard
from palazzo.archive.door import Filing
from palazzo.archive.guarding import Guard
from palazzo.archive.titles import shown_title
from palazzo.feeders import Identity, Message, Row, Unreadable
from palazzo.guard.titles import title_from
from palazzo.mining.commits import Commits
from palazzo.mining.files import Standing
from palazzo.mining.filings import Clockwork, filing_of
from palazzo.mining.placing import Placing
from palazzo.mining.report import Skipped
from palazzo.mining.wanted import MessageCounter, Wanted
from palazzo.model import Micros, Place, Source
from palazzo.scope.identity import ProjectIdentity
from palazzo.store import sources
from palazzo.store.database import Connection, Database
from palazzo.store.sources import FileState
from palazzo.text.counts import counted

BATCH_ROWS, BATCH_BYTES = 64, 512 * 1024
"""Rows and raw bytes that are archived in one transaction: some 20 ms of holding the write lock."""
_LOOK_AHEAD = 500
"""Rows that are read to learn which project a session belongs to."""

Reached = Callable[[int, int], FileState]
"""From a source's row id and the position after the last row that was filed: what to remember of the file."""


class Format(Protocol):
    """What is needed of a feeder to file what it reads."""

    kind: str
    version: int


@dataclass(slots=True)
class Taken:
    """What one source brought, by rows as in `MineReport`. `standing` says what had become of it.

    `filed` is the conversation that was filed, and since when: of one that lies in several files the next may cut
    drawers anew that this one brought, so they are counted in the end.
    """

    standing: Standing
    rows: int = 0
    items: int = 0
    noise: int = 0
    repeated: int = 0
    unreadable: int = 0
    bytes: int = 0
    drawers: int = 0
    filed: tuple[Source, Micros] | None = None
    wing: str = ""
    skipped: list[Skipped] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Opened:
    """A conversation that is about to be filed: what it is, where it goes, where it was held, and its rows."""

    source: Source
    identity: Identity
    place: Place
    project: ProjectIdentity | None
    is_known: bool
    directory: str
    rows: Iterator[Row]

    def standing(self, so_far: Standing, brought: bool) -> Standing:
        """Return what had become of it: what was archived from elsewhere before is not new, wherever it lies now."""
        if so_far == "new" and self.is_known:
            return "grown" if brought else "unchanged"
        return so_far


def open_session(
    database: Database,
    kind: str,
    identity: Identity,
    uri: str,
    rows: Iterator[Row],
    placing: Placing,
    wanted: Wanted,
    title: str = "",
    cwd: str = "",
) -> Opened | str:
    """Read on until it is clear which project a conversation belongs to; one that is known stays where it is.

    Returns why a conversation is left out that is not `wanted`.
    """
    with database.snapshot() as connection:
        known = sources.find_source(connection, Source(identity.key, kind, uri))
    ahead = _look_ahead(rows, wanted, known is not None or identity.led_by_agent, cwd)
    refusal = ahead.refusal(wanted)
    if refusal:
        return refusal
    messages = [row.content for row in ahead.rows if isinstance(row.content, Message)]
    directory = ahead.directory
    said = [m.text for m in messages if m.role == "user" and m.standing == "said" and m.text.strip()]
    spoken = next((text for text in said if title_from(text)), next(iter(said), ""))
    project = placing.project(Path(directory)) if directory else None
    place = placing.of_conversation(project, spoken)
    if known is not None:
        with database.snapshot() as connection:
            title = title or shown_title(connection, known, sources.read_source(connection, known).title)
            place = sources.place_of_first_item(connection, known) or place
    guard = Guard.of(database)
    named = title or title_from(guard.without_erased(spoken))  # before it is cut off in the middle of such words
    source = Source(identity.key, kind, uri, identity.session_id, named, project.identity if project else "")
    source = guard.source(source)
    return Opened(source, identity, place, project, known is not None, directory, chain(ahead.rows, rows))


def refusal_of_session(
    database: Database | None, kind: str, identity: Identity, uri: str, rows: Iterator[Row], wanted: Wanted, cwd: str
) -> str:
    """Return why `open_session` would leave a conversation out; "" where it would not. Nothing is archived."""
    known = None
    if database is not None:
        with database.snapshot() as connection:
            known = sources.find_source(connection, Source(identity.key, kind, uri))
    return _look_ahead(rows, wanted, known is not None or identity.led_by_agent, cwd).refusal(wanted)


def file_session(
    database: Database,
    feeder: Format,
    opened: Opened,
    placing: Placing,
    clock: Callable[[], Micros],
    modified_at: Micros,
    taken: Taken,
    reached: Reached,
    committed: Callable[[int], None],
) -> int | None:
    """Archive a conversation's rows; return the position after the last, or None when there were none.

    Each batch and what `reached` says of it commit together; `committed` is told of items as they are safe.
    """
    began = clock()
    clockwork, commits = Clockwork(modified_at), Commits()
    source, guard = opened.source, Guard.of(database)
    end = None
    for batch in _batches(opened.rows):
        end = batch[-1].position + len(batch[-1].raw)
        source = guard.source(_titled(source, batch))
        filings = [_filing(feeder, opened, row, clockwork, commits, taken) for row in batch]
        bad = [isinstance(row.content, Unreadable) for row in batch]
        prepared = door.prepare(filings, guard)
        with database.transaction() as connection:
            now = clock()
            placing.record(connection, opened.project, now)
            place = _place_now(connection, source, opened, placing)
            receipt = door.file(connection, source, place, prepared, now)
            heard.give_way(connection, source.session_id, prepared.filings, clock())
            sources.write_file_state(connection, reached(sources.file_source(connection, source, now), end))
        for filing, new, unreadable in zip(filings, receipt.new, bad, strict=True):
            taken.unreadable += unreadable
            taken.repeated += not new and not unreadable
            taken.items += new and filing.kind != "noise"
            taken.noise += new and filing.kind == "noise" and not unreadable
        taken.rows += len(batch)
        taken.bytes += sum(len(row.raw) for row in batch)
        committed(taken.items)
    taken.wing = opened.place.wing
    taken.filed = taken.filed or (source, began)
    return end


def _place_now(connection: Connection, source: Source, opened: Opened, placing: Placing) -> Place:
    """Where a conversation is filed, as that is called in this transaction: with what is there of it already."""
    known = sources.find_source(connection, source)
    there = None if known is None else sources.place_of_first_item(connection, known)
    return there or placing.current(connection, opened.project, opened.place)


def note_reached(database: Database, opened: Opened, end: int, reached: Reached) -> None:
    """Remember a source in which nothing was to be read."""
    with database.transaction() as connection:
        row = sources.file_source(connection, opened.source)
        sources.write_file_state(connection, reached(row, end))


def _filing(feeder: Format, opened: Opened, row: Row, clockwork: Clockwork, commits: Commits, taken: Taken) -> Filing:
    if isinstance(row.content, Unreadable):
        taken.skipped.append(Skipped(f"{opened.source.uri}#at={row.position}", row.content.reason))
    filing = filing_of(feeder.kind, feeder.version, opened.identity, row, clockwork)
    return commits.stated(filing, row.content, opened.directory) if isinstance(row.content, Message) else filing


def count_drawers(database: Database, source: Source, since: Micros) -> int:
    """Return how many drawers of a conversation are live that were cut at `since` or later."""
    with database.snapshot() as connection:
        row = sources.find_source(connection, source)
        return 0 if row is None else sources.count_drawers_since(connection, row, since)


@dataclass(frozen=True, slots=True)
class _Ahead:
    """The first rows of a conversation; `is_short` says that there are no others, and too few messages."""

    rows: list[Row]
    directory: str
    is_short: bool

    def refusal(self, wanted: Wanted) -> str:
        if self.is_short:
            return f"fewer than {counted(wanted.least_messages, 'message')}"
        return "" if wanted.by_directory(self.directory) else "its project is excluded"


def _look_ahead(rows: Iterator[Row], wanted: Wanted, may_be_short: bool, directory: str) -> _Ahead:
    """Read rows until it is said in which directory the session was held, and a person and enough have spoken."""
    least = 0 if may_be_short else wanted.least_messages
    ahead: list[Row] = []
    messages, spoken = MessageCounter(), False
    for row in rows:
        ahead.append(row)
        if isinstance(row.content, Message):
            directory = directory or row.content.cwd
            spoken = spoken or (row.content.role == "user" and row.content.standing == "said")
        messages.add(row.content)
        if (directory and spoken and messages.number >= least) or len(ahead) >= _LOOK_AHEAD:
            break
    return _Ahead(ahead, directory, len(ahead) < _LOOK_AHEAD and messages.number < least)


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += len(row.raw)
        if len(batch) >= BATCH_ROWS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _titled(source: Source, batch: Iterable[Row]) -> Source:
    """Return the source under the last title that a row of the batch gives it."""
    titles = [row.title for row in batch if row.title]
    return replace(source, title=titles[-1]) if titles else source
