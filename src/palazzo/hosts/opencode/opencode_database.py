"""opencode's history: sessions, messages and parts in one SQLite file, `opencode.db`, written while it is read.

Learned from databases of opencode 1.2.27 (as it migrated an older store) and 1.18.33 (`tests/fixtures/opencode`).

    session(id, parent_id, directory, title, …, time_created, time_updated)
    message(id, session_id, time_created, time_updated, data)     data: JSON, see opencode_parts
    part(id, message_id, session_id, time_created, time_updated, data)

Generations of the schema differ in columns, so columns are read by name. `event` repeats every update and is not read.
`parent_id` names the session that a sub-agent works for. Order is by time and then by id; ids alone do not sort (see
`opencode_parts.rank_id`), and a migration gives all parts of a store one time.

The rows of a session are its own, then each message followed by its parts; `raw` is the database row as canonical JSON,
with `data` as JSON inside. A message that the model is still writing, and everything after it, is left for the next
read, because a row that was archived half-written would stay so. After an hour without a change, the message counts as
abandoned and is read as it is.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.hosts.opencode.opencode_parts import (
    KIND,
    is_unfinished,
    message_content,
    part_content,
    rank_id,
    speech_of,
)
from palazzo.model import Micros
from palazzo.sources.formats import Content, Identity, Noise, Row, Session
from palazzo.sources.formats.jsonl_rows import string
from palazzo.sources.formats.row_records import canonical
from palazzo.sources.formats.source_times import moment
from palazzo.store.database import SqliteConnection
from palazzo.store.foreign_database import MAGIC, ForeignDatabase

IDLE_LIMIT = Micros(3600 * 1_000_000)
"""Time after the last change after which an incomplete message is considered abandoned: tools may run for minutes."""
_NAME = re.compile(r"opencode(?:-[\w.-]+)?\.db")
_FORK_NAME = re.compile(r"kilo(?:-[\w.-]+)?\.db")
"""The database of a program that was made from opencode: it is that host's."""
_REQUIRED_COLUMNS = {
    "session": ("id",),
    "message": ("id", "session_id", "data"),
    "part": ("id", "message_id", "session_id", "data"),
}
_VOLATILE_COLUMNS = re.compile(r"time_updated|time_compacting|tokens_\w+|cost|summary_\w+|revert|share_url")
"""Columns of a session that change whenever it continues; its own row is the rest."""

_ORPHAN_FILTER = "session_id = ? AND message_id NOT IN (SELECT id FROM message)"
"""Parts whose message was deleted."""

Record = dict[str, object]


def _read_clock() -> Micros:
    return Micros(time.time_ns() // 1000)


class Opencode:
    """Reads opencode's database, or that of a program made from it, with its own `kind` and `name`."""

    version = 1

    def __init__(
        self, clock: Callable[[], Micros] = _read_clock, kind: str = KIND, name: re.Pattern[str] = _NAME
    ) -> None:
        self._now, self.kind, self._name = clock, kind, name

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether this is a SQLite file with the host's name, or with opencode's tables and another name."""
        if not head.startswith(MAGIC):
            return False
        is_named = bool(self._name.fullmatch(path.name))
        return is_named or (self.kind == KIND and not _FORK_NAME.fullmatch(path.name) and _has_tables(path))

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the sessions, oldest first."""
        database = ForeignDatabase(path)
        with database.snapshot() as connection:
            tables = _tables(connection, path)
            headers = [
                _SessionHeader(row, *_extent(connection, tables, _text(row.get("id"))))
                for row in _sessions(connection, tables)
            ]
        for header in headers:
            yield self._session(database, header)

    def _session(self, database: ForeignDatabase, header: _SessionHeader) -> Session:
        row = header.row
        session, parent = _text(row.get("id")), _text(row.get("parent_id"))
        is_resting = self._now() - (moment(header.updated) or 0) > IDLE_LIMIT
        return Session(
            Identity((self.kind, session), session, parent, led_by_agent=bool(parent)),
            f"{header.messages}.{header.parts}.{header.updated}{'' if is_resting else '+'}",
            partial(_rows, database, session, is_resting),
            _text(row.get("title")).strip(),
            _text(row.get("directory")),
            moment(header.updated),
            settled=is_resting,
        )


@frozen
class _SessionHeader:
    """A session's row, the number of its other rows, and the time of the latest change among all of them."""

    row: Record
    messages: int
    parts: int
    updated: int


def _rows(database: ForeignDatabase, session: str, is_resting: bool) -> Iterator[Row]:
    with database.snapshot() as connection:
        records = list(_records(connection, _tables(connection, database.path), session, is_resting))
    for position, (record, content, title) in enumerate(records):
        yield Row(position, canonical(record), content, title)


def _records(
    connection: SqliteConnection, tables: _Tables, session: str, is_resting: bool
) -> Iterator[tuple[Record, Content, str]]:
    """Yield each row of a session in order, with its content."""
    for row in _select(connection, tables, "session", "id = ?", session):
        session_row = {key: value for key, value in row.items() if not _VOLATILE_COLUMNS.fullmatch(key)}
        yield session_row, Noise("session"), _text(row.get("title")).strip()
    messages = sorted(_select(connection, tables, "message", "session_id = ?", session), key=_message_order)
    open_index = None if is_resting else _find_open_message(messages)
    for n, message in enumerate(messages):
        if n == open_index:
            return
        own, data = _text(message.get("id")), message.get("data")
        yield message, message_content(own, data), ""
        speech = speech_of(own, data) if isinstance(data, dict) else None
        for part in _parts(connection, tables, own):
            yield part, part_content(_text(part.get("id")), part.get("data"), speech), ""
    for part in _select(connection, tables, "part", _ORPHAN_FILTER, session):  # no row goes unexplained
        yield part, part_content(_text(part.get("id")), part.get("data"), None), ""


def _find_open_message(messages: Sequence[Record]) -> int | None:
    """Return the index of the message in progress: the model's last one, if it is not completed."""
    for n in range(len(messages) - 1, -1, -1):
        data = messages[n].get("data")
        if isinstance(data, dict) and string(data, "role") == "assistant":
            return n if is_unfinished(data) else None
    return None


def _parts(connection: SqliteConnection, tables: _Tables, message: str) -> list[Record]:
    parts = _select(connection, tables, "part", "message_id = ?", message)
    return sorted(parts, key=lambda part: (_number(part.get("time_created")), rank_id(_text(part.get("id")), message)))


def _message_order(message: Record) -> tuple[int, str]:
    return _number(message.get("time_created")), _text(message.get("id"))


# --- the database ------------------------------------------------------------------------------------------

_Tables = Mapping[str, Sequence[str]]


def _has_tables(path: Path) -> bool:
    try:
        with ForeignDatabase(path).snapshot() as connection:
            return bool(_tables(connection, path))
    except SourceUnreadable:
        return False


def _tables(connection: SqliteConnection, path: Path) -> dict[str, list[str]]:
    """Return the columns of each table. Raises SourceUnreadable if a required one is missing."""
    table_names = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    tables: dict[str, list[str]] = {}
    for table, columns in _REQUIRED_COLUMNS.items():
        if table not in table_names:
            raise SourceUnreadable(
                f"{path} has no table '{table}': opencode has not set up this database. Start opencode once, then "
                "try again."
            )
        tables[table] = [str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")]
        missing = [column for column in columns if column not in tables[table]]
        if missing:
            raise SourceUnreadable(
                f"{path} has no column '{missing[0]}' in '{table}': its migration is incomplete, or Palazzo does not "
                "know this version of opencode. Start opencode once, then try again."
            )
    return tables


def _sessions(connection: SqliteConnection, tables: _Tables) -> list[Record]:
    rows = _select(connection, tables, "session", "? = ''", "")
    return sorted(rows, key=lambda row: (_number(row.get("time_created")), _text(row.get("id"))))


def _extent(connection: SqliteConnection, tables: _Tables, session: str) -> tuple[int, int, int]:
    """Return a session's numbers of messages and parts and its latest change; by index only, if there is one."""
    counts, latest = [], 0
    for table in ("message", "part"):
        changed = "max(time_updated)" if "time_updated" in tables[table] else "0"
        sql = f"SELECT count(*), {changed} FROM {table} WHERE session_id = ?"  # noqa: S608 (names are constants)
        for count, at in connection.execute(sql, (session,)):
            counts.append(int(count))
            latest = max(latest, _number(at))
    return counts[0], counts[1], latest


def _select(connection: SqliteConnection, tables: _Tables, table: str, condition: str, value: str) -> list[Record]:
    """Return whole rows by column name. Text comes as bytes: it may be invalid UTF-8."""
    names = tables[table]
    columns = ", ".join(f'CAST("{name}" AS BLOB), typeof("{name}")' for name in map(_escape_name, names))
    sql = f"SELECT {columns} FROM {table} WHERE {condition}"  # noqa: S608 (constants, and names that SQLite gave, escaped)
    return [_record(names, row) for row in connection.execute(sql, (value,))]


def _escape_name(name: str) -> str:
    return name.replace('"', '""')


def _record(names: Sequence[str], row: Sequence[object]) -> Record:
    record: Record = {}
    for n, name in enumerate(names):
        record[name] = _value(row[2 * n], str(row[2 * n + 1]))
    if isinstance(record.get("data"), str):
        record["data"] = _parse_json(str(record["data"]))
    return record


def _value(data: object, kind: str) -> object:
    if not isinstance(data, bytes):
        return None
    if kind == "integer":
        return int(data)
    if kind == "real":
        return float(data)
    return data.hex() if kind == "blob" else data.decode("utf-8", "surrogateescape")


def _parse_json(text: str) -> object:
    """Return the JSON in `data`; the text itself if it is not JSON."""
    try:
        value: object = json.loads(text, strict=False)
        canonical(value)
    except (ValueError, RecursionError):
        return text
    return value


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | float) and value == value and abs(value) < 1 << 62 else 0


def has_session(path: Path, session: str) -> bool:
    """Return whether opencode's database has a session; raise SourceUnreadable if that cannot be read."""
    with ForeignDatabase(path).snapshot() as connection:
        return any(True for _ in connection.execute("SELECT 1 FROM session WHERE id = ?", (session,)))
