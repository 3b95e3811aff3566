"""Reading one transcript into the archive, from where it was left, in short transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from palazzo.archive import door
from palazzo.archive.door import Filing
from palazzo.feeders import Feeder, Identity, Message, Row, Unreadable
from palazzo.mining import files
from palazzo.mining.files import FileStatus
from palazzo.mining.filings import Clockwork, filing_of
from palazzo.mining.placing import Placing
from palazzo.mining.report import Skipped
from palazzo.model import Micros, Place, Source
from palazzo.scope.identity import ProjectIdentity
from palazzo.store import sources
from palazzo.store.database import Database
from palazzo.store.sources import FileState

BATCH_ROWS, BATCH_BYTES = 64, 512 * 1024
"""Rows and raw bytes that are archived in one transaction: some 20 ms of holding the write lock."""
_LOOK_AHEAD = 500
"""Rows that are read to learn which project a session belongs to."""
_TITLE_CHARACTERS = 80


@dataclass(slots=True)
class Taken:
    """What one source brought. `standing` says what had become of the file."""

    standing: files.Standing
    items: int = 0
    noise: int = 0
    drawers: int = 0
    wing: str = ""
    skipped: list[Skipped] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Session:
    source: Source
    identity: Identity
    place: Place
    project: ProjectIdentity | None


def take_transcript(
    database: Database,
    feeder: Feeder,
    path: Path,
    placing: Placing,
    clock: Callable[[], Micros],
    committed: Callable[[int], None],
) -> Taken:
    """Archive what is new in the transcript at `path`; `committed` is told of items as they are safe on disk."""
    uri = path.as_uri()
    with path.open("rb") as stream:
        status = files.status_of_stream(stream)
        with database.snapshot() as connection:
            state = sources.read_file_state(connection, uri)
        start = files.resume_at(state, stream, status, feeder.version)
        taken = Taken("new" if state is None else "grown" if start else "rewritten")
        stream.seek(0)
        identity = feeder.identify(path, stream.read(64 * 1024))
        stream.seek(start)
        rows = feeder.rows(stream, start)
        ahead = _look_ahead(rows)
        session = _session(database, feeder.kind, identity, uri, ahead, placing)
        taken.wing = session.place.wing
        reader = _Reader(database, feeder, session, placing, status, clock, taken)
        end = start
        for batch in _batches(chain(ahead, rows)):
            end = batch[-1].position + len(batch[-1].raw)
            reader.file(batch, files.tail_hash_at(path, end), end)
            committed(taken.items)
        if end == start:
            reader.note_status(end, files.tail_hash_at(path, end))
        taken.drawers = reader.count_drawers()
    return taken


class _Reader:
    """Files batches of rows of one session."""

    def __init__(
        self,
        database: Database,
        feeder: Feeder,
        session: _Session,
        placing: Placing,
        status: FileStatus,
        clock: Callable[[], Micros],
        taken: Taken,
    ) -> None:
        self._database, self._feeder, self._session, self._placing = database, feeder, session, placing
        self._status, self._clock, self._taken = status, clock, taken
        self._clockwork = Clockwork(Micros(status.mtime // 1000))
        self._began = clock()
        self._source = session.source

    def file(self, batch: list[Row], tail: bytes, end: int) -> None:
        """Archive one batch, and remember in the same transaction how far the file was read."""
        filings = [self._filing(row) for row in batch]
        titles = [row.title for row in batch if row.title]
        if titles:
            self._source = _titled(self._source, titles[-1])
        prepared = door.prepare(filings)
        with self._database.transaction() as connection:
            self._placing.record(connection, self._session.project)
            receipt = door.file(connection, self._source, self._session.place, prepared, self._clock())
            row = sources.file_source(connection, self._source)
            sources.write_file_state(connection, self._state(row, tail, end))
        for filing, new in zip(filings, receipt.new, strict=True):
            self._taken.items += new and filing.kind != "noise"
            self._taken.noise += new and filing.kind == "noise"

    def note_status(self, end: int, tail: bytes) -> None:
        """Remember a file in which nothing was to be read."""
        with self._database.transaction() as connection:
            row = sources.file_source(connection, self._source)
            sources.write_file_state(connection, self._state(row, tail, end))

    def count_drawers(self) -> int:
        """Return how many drawers this reading made."""
        with self._database.snapshot() as connection:
            row = sources.find_source(connection, self._source)
            return 0 if row is None else sources.count_drawers_since(connection, row, self._began)

    def _filing(self, row: Row) -> Filing:
        if isinstance(row.content, Unreadable):
            where = f"{self._source.uri}#byte={row.position}"
            self._taken.skipped.append(Skipped(where, row.content.reason))
        return filing_of(self._feeder.kind, self._feeder.version, self._session.identity, row, self._clockwork)

    def _state(self, source: int, tail: bytes, end: int) -> FileState:
        status = self._status
        return FileState(
            self._source.uri,
            source,
            self._feeder.kind,
            self._feeder.version,
            status.inode,
            status.size if end >= status.size else end,
            status.mtime,
            end,
            tail,
            b"",
        )


def _look_ahead(rows: Iterator[Row]) -> list[Row]:
    """Read rows until one says in which directory the session was held and a person has spoken."""
    ahead: list[Row] = []
    directory = spoken = False
    for row in rows:
        ahead.append(row)
        if isinstance(row.content, Message):
            directory = directory or bool(row.content.cwd)
            spoken = spoken or (row.content.role == "user" and row.content.standing == "said")
        if (directory and spoken) or len(ahead) >= _LOOK_AHEAD:
            break
    return ahead


def _session(
    database: Database, kind: str, identity: Identity, uri: str, ahead: list[Row], placing: Placing
) -> _Session:
    messages = [row.content for row in ahead if isinstance(row.content, Message)]
    directory = next((message.cwd for message in messages if message.cwd), "")
    spoken = next((m.text for m in messages if m.role == "user" and m.standing == "said" and m.text.strip()), "")
    project = placing.project(Path(directory)) if directory else None
    place = placing.of_conversation(project, spoken)
    title = ""
    with database.snapshot() as connection:
        known = sources.find_source(connection, Source(identity.key, kind, uri))
        if known is not None:
            title = sources.read_source(connection, known).title
            place = sources.place_of_first_item(connection, known) or place
    source = Source(
        identity.key,
        kind,
        uri,
        identity.session_id,
        title or _first_line(spoken),
        project.identity if project else "",
    )
    return _Session(source, identity, place, project)


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
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


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _TITLE_CHARACTERS else line[: _TITLE_CHARACTERS - 1].rstrip() + "…"


def _titled(source: Source, title: str) -> Source:
    return Source(source.key, source.kind, source.uri, source.session_id, title, source.project)
