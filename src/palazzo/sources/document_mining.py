"""Reading one document into the archive: a new version if its text changed, and which version is current."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from palazzo.archive import ingest
from palazzo.archive.ingest_guard import Guard
from palazzo.errors import SourceUnreadable
from palazzo.model import Micros, Source
from palazzo.sources import file_changes
from palazzo.sources.formats import Message, Row
from palazzo.sources.formats.converted_documents import Unconvertible, has_format
from palazzo.sources.formats.document_kinds import is_binary, largest
from palazzo.sources.formats.document_rows import HEAD, Documents
from palazzo.sources.mining_report import Skipped
from palazzo.sources.new_items import Clockwork, filing_of
from palazzo.sources.session_mining import SourceTally
from palazzo.sources.source_places import Placer
from palazzo.store import source_rows
from palazzo.store.database import Database
from palazzo.store.source_rows import FileState

_TRIES = 3


class _NamedBytes(io.BytesIO):
    """Bytes with the name of their file, like an open file."""

    def __init__(self, raw: bytes, name: str) -> None:
        super().__init__(raw)
        self.name = name


def take_document(
    database: Database, path: Path, root: Path, placer: Placer, clock: Callable[[], Micros]
) -> SourceTally:
    """Archive the document at `path` of the project at `root`, if its text differs from its current version.

    A document that cannot be turned into text is left out with the reason; if a converter was needed to find that out,
    until the file changes.
    """
    uri = path.as_uri()
    raw, status = _read_settled(path)
    with database.snapshot() as connection:
        state = source_rows.read_file_state(connection, uri)
    digest = file_changes.content_hash(raw)
    project = placer.project(root)
    feeder = Documents(project.identity, project.root if path.is_relative_to(project.root) else root)
    identity = feeder.identify(path, raw[:HEAD])

    def make_state(source: int | None) -> FileState:
        size, mtime = status.size, status.mtime
        return FileState(uri, source, feeder.kind, feeder.version, status.inode, size, mtime, len(raw), b"", digest)

    guard = Guard.of(database)
    if has_format(path) and state is not None and _failed_before(state, digest, feeder.version):
        with database.transaction() as connection:
            source_rows.write_file_state(connection, make_state(None))  # it has another time, and the same bytes
        return SourceTally("left out", skipped=[Skipped(uri, "its conversion failed before, and it has not changed")])
    try:
        row = _row(feeder, path, raw, guard)
    except Unconvertible as error:
        if error.is_costly:
            with database.transaction() as connection:
                source_rows.write_file_state(connection, make_state(state.source if state else None))
        return SourceTally("left out", skipped=[Skipped(uri, str(error))])
    assert isinstance(row.content, Message)  # noqa: S101 (what the documents feeder yields)
    new_item = filing_of(feeder.kind, feeder.version, identity, row, Clockwork(Micros(status.mtime // 1000)))
    new_item = ingest.with_origin(new_item, project.branch, project.commit)
    place = placer.of_document(project, identity.key[-1], row.content.text[:20_000])
    source = guard.source(Source(identity.key, feeder.kind, uri, "", row.title, project.identity))
    source_tally = SourceTally("new" if state is None else "grown", wing=place.wing)
    ingest_batch = ingest.prepare([new_item], guard)
    began = clock()
    with database.transaction() as connection:
        placer.record(connection, project, began)
        place = placer.current(connection, project, place)
        receipt = ingest.file(connection, source, place, ingest_batch, began)
        source_row = source_rows.file_source(connection, source, began)
        changed = source_rows.file_revision(connection, source_row, receipt.rows[0], began)
        source_rows.write_file_state(connection, make_state(source_row))
    source_tally.rows, source_tally.items, source_tally.repeated, source_tally.bytes = (
        1,
        receipt.added,
        1 - receipt.added,
        len(raw),
    )
    if not changed:
        source_tally.change = "unchanged"
    else:
        with database.snapshot() as connection:
            source_tally.drawers = source_rows.count_live_drawers(connection, source_row)
    return source_tally


def _failed_before(state: FileState, digest: bytes, version: int) -> bool:
    return state.source is None and (state.content, state.version) == (digest, version)


def _row(feeder: Documents, path: Path, raw: bytes, guard: Guard) -> Row:
    """Return a document's row. A converted text format may hold secrets that its extracted text lacks."""
    row = next(feeder.rows(_NamedBytes(raw, path.name)))
    assert isinstance(row.content, Message)  # noqa: S101 (what the documents feeder yields)
    if "decoder" not in row.content.meta or is_binary(raw[:HEAD]) or path.suffix.lower() == ".pdf":
        return row
    clean_raw = guard.words(raw.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    return replace(row, raw=clean_raw)


def _read_settled(path: Path) -> tuple[bytes, file_changes.FileStatus]:
    """Return a file's bytes in a consistent state: read again if something is writing it."""
    for _ in range(_TRIES):
        with path.open("rb") as stream:
            status = file_changes.status_of_stream(stream)
            raw = stream.read(largest(path) + 1)
            if file_changes.status_of_stream(stream) == status:
                return raw, status
    raise SourceUnreadable(f"{path} keeps changing while it is read. Index it again when it no longer changes.")
