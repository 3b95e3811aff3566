"""Reading documents into the archive: a new version if the text changed, and which version is current."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from palazzo.archive import ingest
from palazzo.archive.ingest import IngestBatch
from palazzo.archive.ingest_guard import Guard
from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.git.project_identity import ProjectIdentity
from palazzo.model import Micros, Place, Source
from palazzo.sources import file_changes
from palazzo.sources.file_changes import SourceChange
from palazzo.sources.formats import Message, Row
from palazzo.sources.formats.converted_documents import Unconvertible
from palazzo.sources.formats.document_kinds import is_binary, largest
from palazzo.sources.formats.document_rows import HEAD, Documents
from palazzo.sources.mining_report import Skipped
from palazzo.sources.new_items import Clockwork, filing_of
from palazzo.sources.session_mining import SourceTally
from palazzo.sources.source_places import Placer
from palazzo.store import source_rows
from palazzo.store.database import Connection, Database
from palazzo.store.raw_database import refuse_open
from palazzo.store.source_rows import FileState
from palazzo.text.document_formats import has_converted_format
from palazzo.text.surrogates import well_formed

_TRIES = 3
GROUP_DOCUMENTS, GROUP_BYTES, GROUP_SECONDS = 64, 512 * 1024, 1.0
"""Documents and bytes that are archived in one transaction, and seconds after which they are in any case."""


class _NamedBytes(io.BytesIO):
    """Bytes with the name of their file, like an open file."""

    def __init__(self, raw: bytes, name: str) -> None:
        super().__init__(raw)
        self.name = name


@frozen
class PreparedDocument:
    """A version of a document, ready to be archived, and the state of its file to record with it."""

    path: Path
    source: Source
    place: Place
    project: ProjectIdentity
    ingest_batch: IngestBatch
    make_state: Callable[[int | None], FileState]
    is_new: bool
    size: int


@dataclass(slots=True)
class DocumentGroup:
    """Documents that are archived in one transaction: for one alone, most of the time goes to its transaction."""

    documents: list[PreparedDocument] = field(default_factory=list)
    size: int = 0
    began: float = field(default_factory=time.monotonic)

    def add(self, document: PreparedDocument) -> None:
        """Add a document."""
        if not self.documents:
            self.began = time.monotonic()
        self.documents.append(document)
        self.size += document.size

    def is_last(self, path: Path) -> bool:
        """Return whether the file at `path` was added last."""
        return bool(self.documents) and self.documents[-1].path == path

    @property
    def is_full(self) -> bool:
        """Return whether the group is to be archived now."""
        is_large = len(self.documents) >= GROUP_DOCUMENTS or self.size >= GROUP_BYTES
        return is_large or time.monotonic() - self.began >= GROUP_SECONDS


def prepare_document(database: Database, path: Path, root: Path, placer: Placer) -> PreparedDocument | SourceTally:
    """Read the document at `path` of the project at `root`; return its version, or the tally of one that is left out.

    A document that cannot be turned into text is left out with the reason; if a converter was needed to find that out,
    until the file changes.
    """
    uri = path.as_uri()
    raw, status = _read_settled(path)
    with database.snapshot() as connection:
        state = source_rows.read_file_state(connection, uri)
        stored_source = source_rows.read_source(connection, state.source) if state and state.source else None
        guard = Guard.at(connection, database.redacts)
    digest = file_changes.content_hash(raw)
    project = placer.project(root)
    feeder = Documents(project.identity, project.root if path.is_relative_to(project.root) else root)
    identity = feeder.identify(path, raw[:HEAD])
    if stored_source is not None and _is_same_key(stored_source.key, identity.key):
        identity = replace(identity, key=stored_source.key)

    def make_state(source: int | None) -> FileState:
        size, mtime = status.size, status.mtime
        return FileState(uri, source, feeder.kind, feeder.version, status.inode, size, mtime, len(raw), b"", digest)

    if has_converted_format(path) and state is not None and _failed_before(state, digest, feeder.version):
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
    ingest_batch = ingest.prepare([new_item], guard)
    return PreparedDocument(path, source, place, project, ingest_batch, make_state, state is None, len(raw))


def file_documents(
    database: Database, documents: Sequence[PreparedDocument], placer: Placer, clock: Callable[[], Micros]
) -> list[SourceTally]:
    """Archive documents in one transaction; return their tallies, in order."""
    with database.transaction() as connection:
        rows = [_file_document(connection, document, placer, clock()) for document in documents]
    with database.snapshot() as connection:
        return [
            _tally(document, archived, source_rows.count_live_drawers(connection, archived.source))
            for document, archived in zip(documents, rows, strict=True)
        ]


class _ArchivedDocument(NamedTuple):
    """A document's row id as a source, how many items were added, and whether its current version changed."""

    source: int
    added: int
    is_changed: bool


def _file_document(
    connection: Connection, document: PreparedDocument, placer: Placer, began: Micros
) -> _ArchivedDocument:
    placer.record(connection, document.project, began)
    place = placer.current(connection, document.project, document.place)
    receipt = ingest.file(connection, document.source, place, document.ingest_batch, began)
    source_row = source_rows.file_source(connection, document.source, began)
    is_changed = source_rows.file_revision(connection, source_row, receipt.rows[0], began)
    source_rows.write_file_state(connection, document.make_state(source_row))
    return _ArchivedDocument(source_row, receipt.added, is_changed)


def _tally(document: PreparedDocument, archived: _ArchivedDocument, drawers: int) -> SourceTally:
    change: SourceChange = "unchanged" if not archived.is_changed else "new" if document.is_new else "grown"
    return SourceTally(
        change,
        rows=1,
        items=archived.added,
        repeated=1 - archived.added,
        bytes=document.size,
        drawers=drawers if archived.is_changed else 0,
        wing=document.place.wing,
    )


def _is_same_key(stored_key: tuple[str, ...], key: tuple[str, ...]) -> bool:
    """Return whether two keys are the same but for lone surrogates: earlier versions had these in projects, too."""
    return tuple(map(well_formed, stored_key)) == tuple(map(well_formed, key))


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
    refuse_open(path)
    for _ in range(_TRIES):
        with path.open("rb") as stream:
            status = file_changes.status_of_stream(stream)
            raw = stream.read(largest(path) + 1)
            if file_changes.status_of_stream(stream) == status:
                return raw, status
    raise SourceUnreadable(f"{path} keeps changing while it is read. Index it again when it no longer changes.")
