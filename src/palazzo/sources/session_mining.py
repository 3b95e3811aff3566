"""Filing of one conversation: its wing and room, and its rows in batches, each with the read position in the source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Protocol

from palazzo.archive import hook_messages, ingest
from palazzo.archive.ingest_guard import Guard
from palazzo.archive.session_titles import stored_title
from palazzo.frozen_class import frozen
from palazzo.git.project_identity import ProjectIdentity
from palazzo.model import Micros, Place, Source
from palazzo.security.clean_titles import title_from
from palazzo.sources.conversation_filter import SessionFilter
from palazzo.sources.file_changes import SourceChange
from palazzo.sources.formats import Identity, Row
from palazzo.sources.mining_report import Skipped
from palazzo.sources.session_batches import Origin, SessionBatch, make_batches
from palazzo.sources.session_preview import Preview, look_ahead
from palazzo.sources.source_places import Placer
from palazzo.store import source_rows
from palazzo.store.database import Connection, Database
from palazzo.store.source_rows import FileState

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


@frozen
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
    preview = look_ahead(rows, find_least_messages(database, kind, identity, uri, session_filter), cwd)
    pending_session = open_previewed_session(database, kind, identity, uri, preview, placer, session_filter, title)
    if isinstance(pending_session, str):
        return pending_session
    return replace(pending_session, rows=chain(preview.rows, rows))


def open_previewed_session(
    database: Database,
    kind: str,
    identity: Identity,
    uri: str,
    preview: Preview,
    placer: Placer,
    session_filter: SessionFilter,
    title: str = "",
) -> PendingSession | str:
    """Open a conversation, without its rows, from its preview; return why it is left out if it is."""
    refusal = preview.refusal(session_filter)
    if refusal:
        return refusal
    source_row = _source_row(database, Source(identity.key, kind, uri))
    directory, first_text = preview.directory, preview.first_text
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
    return PendingSession(source, identity, place, project, source_row is not None, directory, iter(()))


def find_least_messages(
    database: Database | None, kind: str, identity: Identity, uri: str, session_filter: SessionFilter
) -> int:
    """Return how many messages a conversation must have: none if it is known, or a part of another session."""
    if not session_filter.least_messages or identity.led_by_agent or database is None:
        return 0 if identity.led_by_agent else session_filter.least_messages
    is_known = _source_row(database, Source(identity.key, kind, uri)) is not None
    return 0 if is_known else session_filter.least_messages


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
    least = find_least_messages(database, kind, identity, uri, session_filter)
    return look_ahead(rows, least, cwd).refusal(session_filter)


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
    origin = Origin(feeder.kind, feeder.version, pending_session.identity, pending_session.directory, modified_at)
    batches = make_batches(origin, pending_session.rows, Guard.of(database))
    return file_batches(database, pending_session, batches, placer, clock, source_tally, make_state, on_commit)


def file_batches(
    database: Database,
    pending_session: PendingSession,
    batches: Iterable[SessionBatch],
    placer: Placer,
    clock: Callable[[], Micros],
    source_tally: SourceTally,
    make_state: StateFactory,
    on_commit: Callable[[int], None],
) -> int | None:
    """Archive the batches of a conversation, as `file_session` does its rows."""
    began = clock()
    source, end = pending_session.source, None
    for batch in batches:
        end, ingest_batch = batch.end, batch.ingest_batch
        source = ingest_batch.guard.source(replace(source, title=batch.title) if batch.title else source)
        source_tally.skipped += [Skipped(f"{source.uri}#at={at}", reason) for at, reason in batch.unreadable.values()]
        with database.transaction() as connection:
            now = clock()
            placer.record(connection, pending_session.project, now)
            place = _place_now(connection, source, pending_session, placer)
            receipt = ingest.file(connection, source, place, ingest_batch, now)
            hook_messages.give_way(connection, source.session_id, ingest_batch.filings, clock())
            state = make_state(source_rows.file_source(connection, source, now), end)
            source_rows.write_file_state(connection, replace(state, content=batch.mark) if batch.mark else state)
        _count(source_tally, batch, receipt.new)
        on_commit(source_tally.items)
    source_tally.wing = pending_session.place.wing
    source_tally.source_start = source_tally.source_start or (source, began)
    return end


def _count(source_tally: SourceTally, batch: SessionBatch, marks: Sequence[bool]) -> None:
    """Count the rows of a batch; `marks` says which items are new."""
    for n, (new_item, is_new) in enumerate(zip(batch.ingest_batch.filings, marks, strict=True)):
        is_readable = n not in batch.unreadable
        source_tally.unreadable += not is_readable
        source_tally.repeated += not is_new and is_readable
        source_tally.items += is_new and new_item.kind != "noise"
        source_tally.noise += is_new and new_item.kind == "noise" and is_readable
    source_tally.rows += len(marks)
    source_tally.bytes += batch.size


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


def count_drawers(database: Database, source: Source, since: Micros) -> int:
    """Return how many live drawers of a conversation were cut at `since` or later."""
    with database.snapshot() as connection:
        row = source_rows.find_source(connection, source)
        return 0 if row is None else source_rows.count_drawers_since(connection, row, since)
