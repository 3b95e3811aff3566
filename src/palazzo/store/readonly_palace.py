"""Read-only palace for a hook that answers without the service: by keyword, in a process that lives for milliseconds.

It imports only SQLite: APSW's own where it is installed, else the standard library's if that is new enough for the
keyword index; never both, since two libraries in one process release each other's locks. It writes nothing and waits
for nothing: any obstacle (a lock, a damaged page, a later schema) raises, and the hook adds nothing. The same data is
read elsewhere by `places`, `drawers`, `items`, `ledger` and `index/keyword_candidates`, with a better ranking; tests
check that both give the same data.
"""

from __future__ import annotations

import os

from palazzo.store.migration_names import MIGRATION_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any, Protocol

    class Connection(Protocol):
        """The common interface of APSW and sqlite3."""

        def execute(self, sql: str, parameters: Sequence[Any] = ...) -> Iterator[Any]: ...
        def close(self) -> object: ...


_APPLICATION = 0x50414C5A
_NEWEST = (3, 43, 0)
"""The first version of SQLite that reads a contentless FTS5 table from which rows were deleted."""
_WAIT_MS = 100
_BUDGET = 100_000
"""The most postings that one query may read, as in `index/keyword_candidates`: rarest words first."""
_CANDIDATES = 40
_HOLDER_LIMIT = 5_000
"""The most drawers with a word that are listed; for a more frequent word, only the candidates are looked up."""
_DEFLATE_CODEC = 1


class Unreadable(Exception):
    """There is no readable palace here, and a hook has nothing to add."""


class DrawerHit:
    """A live drawer that was found: its metadata, its text, and its score."""

    __slots__ = (
        "author",
        "branch",
        "created_at",
        "held",
        "id",
        "kind",
        "role",
        "room",
        "row",
        "score",
        "session",
        "text",
        "wing",
    )

    def __init__(self, row: int, score: float, columns: Sequence[Any]) -> None:
        self.row, self.score = row, score
        self.id: str = bytes(columns[0]).hex()
        self.kind: str = columns[1]
        self.role: str = columns[2]
        self.author: str = columns[3]
        self.created_at: int = columns[4]
        self.wing: str = columns[5]
        self.room: str = columns[6]
        self.session: str = columns[7]
        self.branch: str = columns[8]
        self.held: frozenset[str] = frozenset()
        self.text = ""


# --- opening -----------------------------------------------------------------------------------------------


def open_palace(path: str) -> Connection:
    """Open a palace on one snapshot; raise Unreadable, or an SQLite error, if its format is not supported."""
    if not os.path.isfile(path):
        raise Unreadable("there is no palace")
    connection = _open_connection(path)
    ((application,),) = connection.execute("PRAGMA application_id")
    if application != _APPLICATION:
        raise Unreadable("it is not a palace")
    connection.execute("BEGIN")
    if {name for (name,) in connection.execute("SELECT name FROM migration")} - set(MIGRATION_NAMES):
        raise Unreadable("a later Palazzo wrote it")
    return connection


def _open_connection(path: str) -> Connection:
    try:
        import apsw
    except ImportError:
        return _by_standard_library(path)
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        connection.set_busy_timeout(_WAIT_MS)
        for _ in connection.execute("PRAGMA schema_version"):
            pass
    except apsw.CantOpenError:  # a directory that cannot be written; see `palace_opening`
        if _has_log(path):
            raise
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(_make_immutable_uri(path), flags=flags)
    return connection


def _by_standard_library(path: str) -> Connection:
    import sqlite3

    if sqlite3.sqlite_version_info < _NEWEST:
        raise Unreadable("this SQLite is too old for the keyword index")
    connection = sqlite3.connect(f"{_address(path)}?mode=ro", _WAIT_MS / 1_000, isolation_level=None, uri=True)
    try:
        connection.execute("PRAGMA schema_version").fetchall()
    except sqlite3.OperationalError:
        if _has_log(path):
            raise
        connection = sqlite3.connect(_make_immutable_uri(path), isolation_level=None, uri=True)
    return connection


def _has_log(path: str) -> bool:
    return os.path.exists(f"{path}-wal") and os.path.getsize(f"{path}-wal") > 0


def _make_immutable_uri(path: str) -> str:
    return f"{_address(path)}?immutable=1"


def _address(path: str) -> str:
    special = {"%": "%25", "?": "%3f", "#": "%23"}
    return "file:" + "".join(special.get(letter, letter) for letter in path)


# --- of whom -----------------------------------------------------------------------------------------------


def wing_at(connection: Connection, roots: Iterable[str]) -> str | None:
    """Return the wing of the project that was seen at one of these directories; None if there is none."""
    for root in roots:
        rows = connection.execute(
            "SELECT wing.name FROM project JOIN wing ON wing.id = project.wing, json_each(project.roots)"
            " WHERE json_each.value = ? ORDER BY project.id",
            (root,),
        )
        for (name,) in rows:
            return str(name)
    return None


def place_names(connection: Connection, kind: str) -> list[str]:
    """Return the distinct names of all wings or rooms, sorted; `kind` is `wing` or `room`."""
    table = {"wing": "wing", "room": "room"}[kind]
    rows = connection.execute(f"SELECT DISTINCT name FROM {table} WHERE merged_into IS NULL ORDER BY name")
    return [str(name) for (name,) in rows]


def wings_called(connection: Connection, names: Collection[str]) -> list[int]:
    """Return the row ids of the wings with these names that exist."""
    rows = connection.execute(
        f"SELECT id FROM wing WHERE merged_into IS NULL AND name IN ({_marks(names)})", tuple(names)
    )
    return [int(row) for (row,) in rows]


def session_of(connection: Connection, host: str, session: str) -> tuple[int | None, frozenset[str]]:
    """Return since when a session remembers what was said in it (None: always), and the ids injected into it."""
    rows = list(
        connection.execute(
            "SELECT id, epoch, epoch_at FROM hook_session WHERE host = ? AND session = ?", (host, session)
        )
    )
    if not rows:
        return None, frozenset()
    ((row, epoch, since),) = rows
    injections = connection.execute(
        "SELECT p.uid FROM injection i JOIN injection_part p ON p.injection = i.id WHERE i.session = ? AND i.epoch = ?",
        (row, epoch),
    )
    return int(since) if epoch else None, frozenset(bytes(uid).hex() for (uid,) in injections)


# --- by keyword --------------------------------------------------------------------------------------------


def frequencies(connection: Connection, words: Iterable[str]) -> dict[str, int]:
    """Return in how many drawers each word occurs, with any ending; a word of several parts counts as a phrase."""
    counts: dict[str, int] = {}
    for word in words:
        rows = connection.execute(
            "SELECT count(*) FROM (SELECT 1 FROM keyword WHERE keyword MATCH ? LIMIT ?)", (_of_words(word), _BUDGET + 1)
        )
        ((counts[word],),) = rows
    return counts


def size(connection: Connection) -> int:
    """Return the approximate number of indexed drawers."""
    ((count,),) = connection.execute("SELECT coalesce(max(id), 0) FROM keyword_docsize")
    return int(count)


def search(
    connection: Connection, word_counts: dict[str, int], wings: Sequence[int], trusts: Collection[str]
) -> list[DrawerHit]:
    """Return the best live drawers of these wings by BM25, best first, each with the words that it contains.

    `word_counts` are words with their `frequencies`. The drawers' texts are not read yet.
    """
    leading = list(_within_budget(word_counts))
    scope = _scope(connection, wings)
    if not leading or not scope:
        return []
    scored_rows = [
        (int(row), -float(score))
        for row, score in connection.execute(
            "SELECT rowid, bm25(keyword, 1.0, 1.0, 0.0) AS score FROM keyword WHERE keyword MATCH ?"
            " ORDER BY score LIMIT ?",
            (f"{scope} AND {_of_words(*leading)}", _CANDIDATES),
        )
    ]
    hits = _load_hits(connection, scored_rows, trusts)
    for word in leading:
        holders = _holders(connection, word, word_counts[word], [hit.row for hit in hits])
        for hit in hits:
            if hit.row in holders:
                hit.held |= {word}
    return hits


def read(connection: Connection, hit: DrawerHit) -> str:
    """Return the exact words of a drawer."""
    spans = connection.execute(
        "SELECT start, end, text, text_codec FROM drawer_span JOIN item ON item.id = item WHERE drawer = ? ORDER BY n",
        (hit.row,),
    )
    return "\n\n".join([_decode_text(text, codec)[start:end] for start, end, text, codec in spans])


def _holders(connection: Connection, word: str, frequency: int, rows: Sequence[int]) -> set[int]:
    """Return at least the rows that hold the word. FTS5 looks up one row in the time in which it lists a thousand."""
    if frequency <= _HOLDER_LIMIT:
        holder_rows = connection.execute("SELECT rowid FROM keyword WHERE keyword MATCH ?", (_of_words(word),))
    else:
        holder_rows = connection.execute(
            f"SELECT rowid FROM keyword WHERE keyword MATCH ? AND rowid IN ({_marks(rows)})", (_of_words(word), *rows)
        )
    return {int(row) for (row,) in holder_rows}


def _within_budget(word_counts: dict[str, int]) -> Iterator[str]:
    total = 0
    for word, frequency in sorted(word_counts.items(), key=lambda pair: pair[1]):
        if frequency and (total == 0 or total + frequency <= _BUDGET):
            yield word
        total += frequency


def _scope(connection: Connection, wings: Sequence[int]) -> str:
    """Return a filter to some wings: the wing where rooms were created, if all of them are in these wings now."""
    rooms: dict[int, list[tuple[int, bool]]] = {}
    rows = connection.execute(
        f"SELECT first_wing, id, wing IN ({_marks(wings)}) FROM room"
        f" WHERE first_wing IN (SELECT first_wing FROM room WHERE wing IN ({_marks(wings)}))",
        (*wings, *wings),
    )
    for first, room, inside in rows:
        rooms.setdefault(int(first), []).append((int(room), bool(inside)))
    tokens: list[str] = []
    for first, own in rooms.items():
        whole = all(inside for _, inside in own)
        tokens += [f'"w{first}x"'] if whole else [f'"r{room}x"' for room, inside in own if inside]
    return f"scope : ({' OR '.join(tokens)})" if tokens else ""


def _load_hits(
    connection: Connection, scored_rows: Sequence[tuple[int, float]], trusts: Collection[str]
) -> list[DrawerHit]:
    rows = connection.execute(
        "SELECT d.id, d.uid, d.kind, d.role, d.author, d.created_at, wing.name, room.name, source.session_id,"
        " d.branch FROM drawer AS d JOIN room ON room.id = d.room JOIN wing ON wing.id = room.wing"
        " JOIN source ON source.id = d.source"
        f" WHERE d.id IN ({_marks(scored_rows)}) AND d.retired_at IS NULL AND d.trust IN ({_marks(trusts)})",
        (*(row for row, _ in scored_rows), *trusts),
    )
    columns_by_row = {int(row): rest for row, *rest in rows}
    return [DrawerHit(row, score, columns_by_row[row]) for row, score in scored_rows if row in columns_by_row]


def _of_words(*words: str) -> str:
    """Return a MATCH expression for any of the words; it never matches a token of a drawer's location."""
    alternatives = " OR ".join('"' + word.replace('"', '""') + '"' for word in words)
    return f"{{body context}} : ({alternatives})"


def _marks(values: Collection[Any]) -> str:
    return ", ".join("?" * len(values))


def _decode_text(blob: bytes, codec: int) -> str:
    if codec == _DEFLATE_CODEC:
        import zlib

        blob = zlib.decompress(blob)
    return blob.decode("utf-8", "surrogatepass")
