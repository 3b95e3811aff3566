"""Giving sessions back: the files they lay in, byte for byte, from rows that were archived one by one.

A row that several places hold is archived once, so a file is found again by where its rows stood: `item` and
`repetition` say which rows a source was ever seen to hold at which place, and `file_state` how far each of its files
was read. Where no two rows claim one place, that is all there is to know.

**Rewritten files.** Both histories are kept, so two rows may claim one place. What is given back is the latest whole
version: the newest rows that lie end to end from the first byte to the byte that was read last. A row that was there,
then changed, then changed back counts as changed; nothing records the way back. While such a file has been read in
part (its reading was interrupted), no version is whole, which `whole` says.

**One session in several files.** A copy that another file begins with is left out. Files that differ (a host may
begin a file of its own for a resumed session) are each given back. Which of two rows at one place is whose is told
from what was read in one go with each: it does not reach beyond the file, and no row is left that is nobody's.

**Records.** A session of a database or an export has no bytes of its own but records, one canonical JSON text each;
they are given back as lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from palazzo.errors import AmbiguousId, NotFound
from palazzo.model import Micros, Source
from palazzo.store import items, palace_overview
from palazzo.store import source_rows as sources
from palazzo.store.database import Connection
from palazzo.store.items import LaidRow
from palazzo.store.packs import PackReader

_CANDIDATES = 9
_IN_COLLECTION = "#session="
"""In the address of a session that is not a file of its own."""
_ZSTD_SUFFIX = ".jsonl.zst"
"""How the names of transcripts end that a host has compressed."""


class SessionName(NamedTuple):
    """How a session is named: `[KIND:]ID[#FILE]`, where kind and file are needed only to tell two apart."""

    id: str
    kind: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class SessionFile:
    """One file of a session: its source, where it was seen last, and the rows that it consists of."""

    source: Source
    row: int
    uri: str
    rows: tuple[LaidRow, ...]
    whole: bool
    records: bool

    @property
    def path(self) -> PurePath:
        """Where the file was seen last; of a session of a collection, the file that holds them all."""
        path = path_of(self.uri)
        return path.with_suffix("") if path.name.endswith(_ZSTD_SUFFIX) else path

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.name

    @property
    def is_part(self) -> bool:
        """Whether it is only a part of a file. A packed transcript is given back as it was before."""
        return _IN_COLLECTION in self.uri and self.path == path_of(self.uri)

    @property
    def label(self) -> str:
        """What names this file among others, as `named` understands it."""
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
    """Return the sessions that `prefix` may mean; the sub-agents of the one that it does mean are not among them."""
    ids = palace_overview.session_ids(connection, prefix, limit)
    first = ids[0] if ids else ""
    return [first] if all(session == first or session.startswith(f"{first}/") for session in ids[1:]) and ids else ids


def find_session(connection: Connection, name: SessionName) -> str:
    """Return the id in full. Raises NotFound, or AmbiguousId with the candidates."""
    ids = session_ids(connection, name.id) if name.id else []
    if not ids:
        raise NotFound(f"No session has the id '{name.id}'. 'palazzo search' and 'palazzo wake-up' name sessions.")
    if len(ids) > 1:
        raise AmbiguousId(name.id, ids)
    return ids[0]


def files_of_session(connection: Connection, session: str, name: SessionName) -> list[SessionFile]:
    """Return the files of the session with that id in full, those that `name` excludes left out."""
    files = []
    for row in sources.sources_of_session(connection, session):
        source = sources.read_source(connection, row)
        if source.session_id == session and name.kind in ("", source.kind):
            files += [file for file in _files(connection, row, source) if name.file in ("", file.name, file.uri)]
    if not files:
        raise NotFound(f"The session '{session}' has no file '{name.file}' of kind '{name.kind or 'any'}'.")
    return files


def one_file(connection: Connection, text: str) -> SessionFile:
    """Return the one file that `given` names. Raises AmbiguousId with what tells several apart."""
    name = parse_session_name(connection, text)
    files = files_of_session(connection, find_session(connection, name), name)
    if len(files) > 1:
        raise AmbiguousId(text, [file.label for file in files])
    return files[0]


def subagents_of(connection: Connection, session: str, kind: str) -> list[SessionFile]:
    """Return the files of the sub-agents of a session, where the host keeps them below it."""
    files = []
    for row in sources.sources_of_session(connection, f"{session}/"):
        source = sources.read_source(connection, row)
        if source.kind == kind:
            files += _files(connection, row, source)
    return files


def times_of(connection: Connection, file: SessionFile) -> tuple[Micros, Micros]:
    """Return when the first and the last message of a file were said; zeros where it has none."""
    return items.message_times(connection, [row.item for row in file.rows])


def directory_of(connection: Connection, file: SessionFile) -> str:
    """Return the directory that the session was held in, '' where it does not say."""
    return items.directory_of_source(connection, file.row)


def path_of(uri: str) -> PurePath:
    """Return the path of a `file:` address, without what names a session in it."""
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
    """Return for each row how far that was read which was read in one go with it."""
    runs: list[list[LaidRow]] = []
    for row in sorted(source_rows, key=lambda row: (row.item, row.ordinal)):
        if not runs or row.ordinal < runs[-1][-1].ordinal:
            runs.append([])
        runs[-1].append(row)
    return {row: max(member.ordinal + member.size for member in run) for run in runs for row in run}


def _are_counted(source_rows: Sequence[LaidRow]) -> bool:
    """Whether rows are numbered rather than placed by their bytes."""
    return bool(source_rows) and source_rows[-1].ordinal + 1 == len({row.ordinal for row in source_rows})


def _end_of_records(source_rows: Sequence[LaidRow], end: int) -> int:
    """Return the number of records in the latest version: mining remembers the last one's number plus its bytes."""
    ordinals = [row.ordinal for row in source_rows if row.ordinal + row.size == end]
    return (max(ordinals) if ordinals else source_rows[-1].ordinal) + 1


def _version(source_rows: Sequence[LaidRow], end: int, strange: Mapping[LaidRow, int]) -> tuple[list[LaidRow], bool]:
    """Return the rows of the version that ends at `end` (-1: not known), and whether they lie end to end.

    `strange` says of rows how much speaks against their being of this file.
    """
    version_rows = [row for row in source_rows if end < 0 or row.ordinal < end]
    claims: dict[int, list[LaidRow]] = {}
    for row in version_rows:
        claims.setdefault(row.ordinal, []).append(row)
    if len(claims) == len(version_rows):
        return version_rows, True
    return _Puzzle(claims, end, strange).solve()


class _Puzzle:
    """Rows of several versions, and the search for those that lie end to end.

    `claims` are the rows by place, in order, of those at one place the newest first.
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
        """Note what it costs to reach the end from `row` on, if it can be reached, and by which row."""
        place = self._next(row)
        onward = self._best(self._claims.get(place, ()))
        if onward is not None:
            self._onward[row] = onward
        elif place != self._end:
            return
        self._costs[row] = self._strange.get(row, 0) + (self._costs[onward] if onward else 0)

    def _best(self, rows: Sequence[LaidRow]) -> LaidRow | None:
        """Return the row from which the end is reached at the least cost; of equal ones the first, the newest."""
        return min((row for row in rows if row in self._costs), key=self._costs.__getitem__, default=None)

    def _next(self, row: LaidRow) -> int:
        """Return the place after a row: where its bytes end, or, where they were redacted, the next there is."""
        place = row.ordinal + row.size
        is_boundary = place == self._end or place in self._claims
        return place if is_boundary else self._after.get(row.ordinal, self._end)
