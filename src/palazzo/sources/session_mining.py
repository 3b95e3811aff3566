"""Filing of one conversation: its wing and room, and its rows in batches, each with the read position in the source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Protocol

from palazzo.archive import hook_messages, ingest
from palazzo.archive.ingest import NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.archive.session_titles import stored_title
from palazzo.git.project_identity import ProjectIdentity
from palazzo.model import Micros, Place, Source
from palazzo.security.clean_titles import title_from
from palazzo.sources.conversation_filter import MessageCounter, SessionFilter
from palazzo.sources.file_changes import SourceChange
from palazzo.sources.formats import Identity, Message, Row, Unreadable
from palazzo.sources.message_commits import Commits
from palazzo.sources.mining_report import Skipped
from palazzo.sources.new_items import Clockwork, filing_of
from palazzo.sources.source_places import Placer
from palazzo.store import source_rows
from palazzo.store.database import Connection, Database
from palazzo.store.source_rows import FileState
from palazzo.text.count_phrases import count_noun

BATCH_ROWS, BATCH_BYTES = 64, 512 * 1024
"""Rows and raw bytes that are archived in one transaction: the write lock is held for about 20 ms."""
_LOOK_AHEAD = 500
"""Number of rows that are read to determine the project of a session."""

StateFactory = Callable[[int, int], FileState]
"""Maps a source's row id and the position after the last filed row to the file state to record."""


class Format(Protocol):
    """The attributes of a feeder that are needed to file its rows."""

    kind: str
    version: int


@dataclass(slots=True)
class SourceTally:
    """Result for one source, in rows as in `MineReport`. `standing` says how the source had changed.

    `filed` is the conversation that was filed, and since when: if it is in several files, the next file may re-cut
    drawers that this one added, so they are counted at the end.
    """

    change: SourceChange
    rows: int = 0
    items: int = 0
    noise: int = 0
    repeated: int = 0
    unreadable: int = 0
    bytes: int = 0
    drawers: int = 0
    source_start: tuple[Source, Micros] | None = None
    wing: str = ""
    skipped: list[Skipped] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PendingSession:
    """A conversation that is about to be filed: its identity, its target place, its directory, and its rows."""

    source: Source
    identity: Identity
    place: Place
    project: ProjectIdentity | None
    is_known: bool
    directory: str
    rows: Iterator[Row]

    def judge_change(self, so_far: SourceChange, has_content: bool) -> SourceChange:
        """Return the outcome: content archived earlier from elsewhere is not new, wherever it is now."""
        if so_far == "new" and self.is_known:
            return "grown" if has_content else "unchanged"
        return so_far


def open_session(
    database: Database,
    kind: str,
    identity: Identity,
    uri: str,
    rows: Iterator[Row],
    placer: Placer,
    session_filter: SessionFilter,
    title: str = "",
    cwd: str = "",
) -> PendingSession | str:
    """Read on until the project of a conversation is clear; a known conversation stays where it is.

    Returns why a conversation is left out that is not `session_filter`.
    """
    source_row = _source_row(database, Source(identity.key, kind, uri))
    preview = _look_ahead(rows, session_filter, source_row is not None or identity.led_by_agent, cwd)
    refusal = preview.refusal(session_filter)
    if refusal:
        return refusal
    messages = [row.content for row in preview.rows if isinstance(row.content, Message)]
    directory = preview.directory
    texts = [m.text for m in messages if m.role == "user" and m.standing == "said" and m.text.strip()]
    first_text = next((text for text in texts if title_from(text)), next(iter(texts), ""))
    project = placer.project(Path(directory)) if directory else None
    place = placer.of_conversation(project, first_text)
    if source_row is not None:
        with database.snapshot() as connection:
            title = title or stored_title(connection, source_row, source_rows.read_source(connection, source_row).title)
            place = source_rows.place_of_first_item(connection, source_row) or place
    guard = Guard.of(database)
    title = title or title_from(guard.cover_erased_words(first_text))  # before the text is cut off amid erased words
    source = Source(identity.key, kind, uri, identity.session_id, title, project.identity if project else "")
    source = guard.source(source)
    return PendingSession(
        source, identity, place, project, source_row is not None, directory, chain(preview.rows, rows)
    )


def refusal_of_session(
    database: Database | None,
    kind: str,
    identity: Identity,
    uri: str,
    rows: Iterator[Row],
    session_filter: SessionFilter,
    cwd: str,
) -> str:
    """Return why `open_session` would leave a conversation out, or "". Archives nothing."""
    source_row = None if database is None else _source_row(database, Source(identity.key, kind, uri))
    return _look_ahead(rows, session_filter, source_row is not None or identity.led_by_agent, cwd).refusal(
        session_filter
    )


def _source_row(database: Database, source: Source) -> int | None:
    with database.snapshot() as connection:
        return source_rows.find_source(connection, source)


def file_session(
    database: Database,
    feeder: Format,
    pending_session: PendingSession,
    placer: Placer,
    clock: Callable[[], Micros],
    modified_at: Micros,
    source_tally: SourceTally,
    make_state: StateFactory,
    on_commit: Callable[[int], None],
) -> int | None:
    """Archive a conversation's rows; return the position after the last, or None if there were none.

    Each batch and its `make_state` state commit together; `on_commit` is called with items once they are safe.
    """
    began = clock()
    clockwork, commits = Clockwork(modified_at), Commits()
    source, guard = pending_session.source, Guard.of(database)
    end = None
    for batch in _batches(pending_session.rows):
        end = batch[-1].position + len(batch[-1].raw)
        source = guard.source(_apply_title(source, batch))
        filings = [_make_item(feeder, pending_session, row, clockwork, commits, source_tally) for row in batch]
        bad = [isinstance(row.content, Unreadable) for row in batch]
        ingest_batch = ingest.prepare(filings, guard)
        with database.transaction() as connection:
            now = clock()
            placer.record(connection, pending_session.project, now)
            place = _place_now(connection, source, pending_session, placer)
            receipt = ingest.file(connection, source, place, ingest_batch, now)
            hook_messages.give_way(connection, source.session_id, ingest_batch.filings, clock())
            source_rows.write_file_state(connection, make_state(source_rows.file_source(connection, source, now), end))
        for new_item, new, unreadable in zip(filings, receipt.new, bad, strict=True):
            source_tally.unreadable += unreadable
            source_tally.repeated += not new and not unreadable
            source_tally.items += new and new_item.kind != "noise"
            source_tally.noise += new and new_item.kind == "noise" and not unreadable
        source_tally.rows += len(batch)
        source_tally.bytes += sum(len(row.raw) for row in batch)
        on_commit(source_tally.items)
    source_tally.wing = pending_session.place.wing
    source_tally.source_start = source_tally.source_start or (source, began)
    return end


def _place_now(connection: Connection, source: Source, pending_session: PendingSession, placer: Placer) -> Place:
    """Return the place of a conversation, by its name in this transaction: that of its existing part."""
    source_row = source_rows.find_source(connection, source)
    existing_place = None if source_row is None else source_rows.place_of_first_item(connection, source_row)
    return existing_place or placer.current(connection, pending_session.project, pending_session.place)


def note_reached(database: Database, pending_session: PendingSession, end: int, make_state: StateFactory) -> None:
    """Remember a source that had nothing to read."""
    with database.transaction() as connection:
        row = source_rows.file_source(connection, pending_session.source)
        source_rows.write_file_state(connection, make_state(row, end))


def _make_item(
    feeder: Format,
    pending_session: PendingSession,
    row: Row,
    clockwork: Clockwork,
    commits: Commits,
    source_tally: SourceTally,
) -> NewItem:
    if isinstance(row.content, Unreadable):
        source_tally.skipped.append(Skipped(f"{pending_session.source.uri}#at={row.position}", row.content.reason))
    new_item = filing_of(feeder.kind, feeder.version, pending_session.identity, row, clockwork)
    return (
        commits.add_commit(new_item, row.content, pending_session.directory)
        if isinstance(row.content, Message)
        else new_item
    )


def count_drawers(database: Database, source: Source, since: Micros) -> int:
    """Return how many live drawers of a conversation were cut at `since` or later."""
    with database.snapshot() as connection:
        row = source_rows.find_source(connection, source)
        return 0 if row is None else source_rows.count_drawers_since(connection, row, since)


@dataclass(frozen=True, slots=True)
class _Preview:
    """The first rows of a conversation. `is_short`: these are all its rows, and they contain too few messages."""

    rows: list[Row]
    directory: str
    is_short: bool

    def refusal(self, session_filter: SessionFilter) -> str:
        if self.is_short:
            return f"fewer than {count_noun(session_filter.least_messages, 'message')}"
        return "" if session_filter.by_directory(self.directory) else "its project is excluded"


def _look_ahead(rows: Iterator[Row], session_filter: SessionFilter, may_be_short: bool, directory: str) -> _Preview:
    """Read rows until the session's directory is known, a person has spoken and there are enough messages."""
    least = 0 if may_be_short else session_filter.least_messages
    preview: list[Row] = []
    messages, has_person = MessageCounter(), False
    for row in rows:
        preview.append(row)
        if isinstance(row.content, Message):
            directory = directory or row.content.cwd
            has_person = has_person or (row.content.role == "user" and row.content.standing == "said")
        messages.add(row.content)
        if (directory and has_person and messages.number >= least) or len(preview) >= _LOOK_AHEAD:
            break
    return _Preview(preview, directory, len(preview) < _LOOK_AHEAD and messages.number < least)


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


def _apply_title(source: Source, batch: Iterable[Row]) -> Source:
    """Return the source with the last title that a row of the batch gives it."""
    titles = [row.title for row in batch if row.title]
    return replace(source, title=titles[-1]) if titles else source
