"""Restore of transcripts: rebuilds a session's files, byte for byte, from rows that were archived one by one.

A row that several places hold is archived once, so a file is rebuilt from the places of its rows: `item` and
`repetition` record which rows a source was ever seen to hold at which place, and `file_state` how far each of its files
was read. Where no two rows claim one place, nothing more is needed.

**Rewritten files.** Both histories are kept, so two rows may claim one place. The result is the latest whole version:
the newest rows that cover the file without gaps, from the first byte to the last byte that was read. A row that was
changed and then changed back counts as changed; nothing records the change back. While such a file has been read only
in part (its reading was interrupted), no version is whole; `whole` reports this.

**One session in several files.** A copy that is the beginning of another file is left out. Files that differ are each
restored (a host may begin a new file for a resumed session). If two rows claim one place, the stretch that was read in
the same run as each row decides to which file the row belongs: that stretch must not extend beyond the file, and no row
may remain that belongs to no file.

**Records.** A session of a database or an export has no bytes of its own but records, each one canonical JSON text;
they are restored as lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from palazzo.errors import AmbiguousId, NotFound
from palazzo.frozen_class import frozen
from palazzo.model import Micros, Source
from palazzo.store import items, palace_overview
from palazzo.store import source_rows as sources
from palazzo.store.database import Connection
from palazzo.store.items import LaidRow
from palazzo.store.packs import PackReader

_CANDIDATES = 9
_IN_COLLECTION = "#session="
"""Part of the address of a session that has no file of its own."""
_ZSTD_SUFFIX = ".jsonl.zst"
"""Suffix of the names of transcripts that a host has compressed."""


class SessionName(NamedTuple):
    """Name of a session: `[KIND:]ID[#FILE]`. Kind and file are needed only to distinguish two sessions."""

    id: str
    kind: str = ""
    file: str = ""


@frozen
class SessionFile:
    """One file of a session: its source, its last known location, and its rows."""

    source: Source
    row: int
    uri: str
    rows: tuple[LaidRow, ...]
    whole: bool
    records: bool

    @property
    def path(self) -> PurePath:
        """Return the file's last known path; for a session of a collection, the file that holds all of them."""
        path = path_of(self.uri)
        return path.with_suffix("") if path.name.endswith(_ZSTD_SUFFIX) else path

    @property
    def name(self) -> str:
        """Return the file's own name."""
        return self.path.name

    @property
    def is_part(self) -> bool:
        """Return whether it is only part of a file. A packed transcript is restored as it was before."""
        return _IN_COLLECTION in self.uri and self.path == path_of(self.uri)

    @property
    def label(self) -> str:
        """Return the label that identifies this file among others, in the form that `parse_session_name` reads."""
        return f"{self.source.kind}:{self.source.session_id}#{self.name}"

    def read(self, connection: Connection) -> bytes:
        """Return the bytes."""
        packs = PackReader(connection)
        end = b"\n" if self.records else b""
        parts = (packs.read(row.pack, row.start, row.size) for row in self.rows)
        return b"".join(part if part.endswith(end) else part + end for part in parts)


def parse_session_name(connection: Connection, text: str) -> SessionName:
    """Split `[KIND:]ID[#FILE]`; an id may itself hold either mark."""
    if not text or palace_overview.session_ids(connection, text, 1):
        return SessionName(text)
    rest, _, file = text.partition("#")
    kind, colon, session = rest.partition(":")
    return SessionName(session, kind, file) if colon else SessionName(rest, "", file)


def session_ids(connection: Connection, prefix: str, limit: int = _CANDIDATES) -> list[str]:
    """Return the sessions that `prefix` may identify, without the sub-agents of a session that it does identify."""
    ids = palace_overview.session_ids(connection, prefix, limit)
    first = ids[0] if ids else ""
    return [first] if all(session == first or session.startswith(f"{first}/") for session in ids[1:]) and ids else ids


def find_session(connection: Connection, name: SessionName) -> str:
    """Return the id in full. Raises NotFound, or AmbiguousId with the candidates."""
    ids = session_ids(connection, name.id) if name.id else []
    if not ids:
        raise NotFound(f"No session has the id '{name.id}'. 'palazzo search' and 'palazzo wake-up' print session ids.")
    if len(ids) > 1:
        raise AmbiguousId(name.id, ids)
    return ids[0]


def files_of_session(connection: Connection, session: str, name: SessionName) -> list[SessionFile]:
    """Return the files of the session with that full id, without those that `name` excludes."""
    files = []
    for row in sources.sources_of_session(connection, session):
        source = sources.read_source(connection, row)
        if source.session_id == session and name.kind in ("", source.kind):
            files += [file for file in _files(connection, row, source) if name.file in ("", file.name, file.uri)]
    if not files:
        raise NotFound(f"The session '{session}' has no file '{name.file}' of kind '{name.kind or 'any'}'.")
    return files


def one_file(connection: Connection, text: str) -> SessionFile:
    """Return the one file that `text` identifies. Raises AmbiguousId, with the ways to tell several apart."""
    name = parse_session_name(connection, text)
    files = files_of_session(connection, find_session(connection, name), name)
    if len(files) > 1:
        raise AmbiguousId(text, [file.label for file in files])
    return files[0]


def subagents_of(connection: Connection, session: str, kind: str) -> list[SessionFile]:
    """Return the files of a session's sub-agents, if the host keeps them below the session."""
    files = []
    for row in sources.sources_of_session(connection, f"{session}/"):
        source = sources.read_source(connection, row)
        if source.kind == kind:
            files += _files(connection, row, source)
    return files


def times_of(connection: Connection, file: SessionFile) -> tuple[Micros, Micros]:
    """Return the times of the first and the last message of a file; zeros if it has none."""
    return items.message_times(connection, [row.item for row in file.rows])


def directory_of(connection: Connection, file: SessionFile) -> str:
    """Return the directory of the session, '' if unknown."""
    return items.directory_of_source(connection, file.row)


def path_of(uri: str) -> PurePath:
    """Return the path of a `file:` address, without the part that names a session in it."""
    return PurePath(unquote(urlsplit(uri).path))


def _files(connection: Connection, row: int, source: Source) -> list[SessionFile]:
    source_rows = items.laid_rows(connection, row)
    states = sources.file_states_of_source(connection, row)
    ends = {state.uri: state.consumed for state in states} or {source.uri: -1}
    extents = _extents(source_rows) if len(ends) > 1 else {}
    used_rows: set[LaidRow] = set()
    files = []
    # The shortest first: what reaches beyond it is not its own. Of equal ones that which was read last, for its rows
    # are the newest.
    for uri, end in sorted(ends.items(), key=lambda one: (one[1], one[0] != source.uri)):
        records = _IN_COLLECTION in uri and _are_counted(source_rows)
        last = _end_of_records(source_rows, end) if records else end
        strange = {row: (row in used_rows) + (extent > last) for row, extent in extents.items()}
        rows, whole = _version(source_rows, last, strange)
        used_rows.update(rows)
        files.append(SessionFile(source, row, uri, tuple(rows), whole, records))
    files.sort(key=lambda file: (-len(file.rows), file.uri != source.uri))
    distinct_files: list[SessionFile] = []
    for file in files:
        if not any(other_file.rows[: len(file.rows)] == file.rows for other_file in distinct_files):
            distinct_files.append(file)
    return distinct_files


def _extents(source_rows: Sequence[LaidRow]) -> dict[LaidRow, int]:
    """Return for each row the end of the range that was read in the same pass."""
    runs: list[list[LaidRow]] = []
    for row in sorted(source_rows, key=lambda row: (row.item, row.ordinal)):
        if not runs or row.ordinal < runs[-1][-1].ordinal:
            runs.append([])
        runs[-1].append(row)
    return {row: max(member.ordinal + member.size for member in run) for run in runs for row in run}


def _are_counted(source_rows: Sequence[LaidRow]) -> bool:
    """Return whether rows are numbered instead of placed by their bytes."""
    return bool(source_rows) and source_rows[-1].ordinal + 1 == len({row.ordinal for row in source_rows})


def _end_of_records(source_rows: Sequence[LaidRow], end: int) -> int:
    """Return the number of records in the latest version: mining stores the last record's number plus its bytes."""
    ordinals = [row.ordinal for row in source_rows if row.ordinal + row.size == end]
    return (max(ordinals) if ordinals else source_rows[-1].ordinal) + 1


def _version(source_rows: Sequence[LaidRow], end: int, strange: Mapping[LaidRow, int]) -> tuple[list[LaidRow], bool]:
    """Return the rows of the version that ends at `end` (-1: not known), and whether they are contiguous.

    `strange` gives for rows how unlikely it is that they belong to this file.
    """
    version_rows = [row for row in source_rows if end < 0 or row.ordinal < end]
    claims: dict[int, list[LaidRow]] = {}
    for row in version_rows:
        claims.setdefault(row.ordinal, []).append(row)
    if len(claims) == len(version_rows):
        return version_rows, True
    return _Puzzle(claims, end, strange).solve()


class _Puzzle:
    """Rows of several versions, and the search for rows that follow each other without gaps.

    `claims` are the rows by position, in order; rows at the same position have the newest first.
    """

    def __init__(self, claims: dict[int, list[LaidRow]], end: int, strange: Mapping[LaidRow, int]) -> None:
        self._claims, self._end, self._strange = claims, end, strange
        self._after = dict(pairwise(claims))
        self._costs: dict[LaidRow, int] = {}
        self._onward: dict[LaidRow, LaidRow] = {}

    def solve(self) -> tuple[list[LaidRow], bool]:
        """Return the rows, and whether they reach the end."""
        for place in reversed(self._claims):
            for row in self._claims[place]:
                self._settle(row)
        first = next(iter(self._claims.values()))
        at = self._best(first)
        path = []
        if at is None:  # nothing reaches the end: the newest at each place
            at = first[0]
            while at is not None:
                path.append(at)
                at = next(iter(self._claims.get(self._next(at), ())), None)
            return path, False
        while at is not None:
            path.append(at)
            at = self._onward.get(at)
        return path, True

    def _settle(self, row: LaidRow) -> None:
        """Record the cost to reach the end from `row`, and the next row on that path, if the end can be reached."""
        place = self._next(row)
        onward = self._best(self._claims.get(place, ()))
        if onward is not None:
            self._onward[row] = onward
        elif place != self._end:
            return
        self._costs[row] = self._strange.get(row, 0) + (self._costs[onward] if onward else 0)

    def _best(self, rows: Sequence[LaidRow]) -> LaidRow | None:
        """Return the row with the lowest cost to reach the end; among equal ones the first, which is the newest."""
        return min((row for row in rows if row in self._costs), key=self._costs.__getitem__, default=None)

    def _next(self, row: LaidRow) -> int:
        """Return the place after a row: the end of its bytes or, if they were redacted, the next known place."""
        place = row.ordinal + row.size
        is_boundary = place == self._end or place in self._claims
        return place if is_boundary else self._after.get(row.ordinal, self._end)
