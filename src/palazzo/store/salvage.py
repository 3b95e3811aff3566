"""Salvage of a damaged palace: a new palace with all rows that can be read, page by page.

    damaged file ──copy──> its pages ──PageFile──> rows ──> new file, same tables     indexes are made anew
                                                        └─> losses: which table, how many, which ids, which pages

A derived table with any loss is left out; `derived/rebuild` builds it again. Of truth, every readable row is taken,
also rows that only an index still contains (`salvage_rules`). References to lost rows are repaired, so that every
reference has a target. Afterwards `archive/lost_bodies` settles the consequences for the chain.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from palazzo.errors import NotAPalace
from palazzo.frozen_class import frozen
from palazzo.store import page_checksums, palace_opening, raw_database, salvage_rules, schema
from palazzo.store.database import Value, explain_errors
from palazzo.store.page_file import PageFile, Row, Tree, UnreadablePage

_CACHE_MB = 16
_MOST_IDS = 1_000
"""The most ids of lost rows that are reported for each table."""


@frozen
class Loss:
    """Rows of one table that cannot be read. `rows` is None if their number is unknown; `ids` are the known ids."""

    table: str
    rows: int | None
    ids: tuple[str, ...]
    pages: tuple[int, ...]


@frozen
class Salvage:
    """The rows that a salvage could not read, and the tables with pages whose checksum is wrong."""

    losses: tuple[Loss, ...] = ()
    doubtful: tuple[str, ...] = ()
    """Tables with a readable page whose checksum is wrong: a value in it may differ from the original."""
    has_dropped_derived: bool = False
    """Whether derived data was dropped and must be built again."""


def is_sound(path: Path) -> bool:
    """Whether SQLite finds no error and each page matches its checksum. False for a file that is not a palace.

    A page that looks damaged is checked again in a snapshot copy: another program may be writing to the file.
    """
    try:
        with (
            explain_errors(path),
            contextlib.closing(palace_opening.open_file(path, "read", True, _CACHE_MB)) as connection,
        ):
            if connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
                return False
        return _has_sound_pages(path) or _has_sound_copy(path)
    except (NotAPalace, UnreadablePage):
        return False


def _has_sound_pages(path: Path) -> bool:
    with PageFile(path) as pages:
        return not any(True for _ in damaged_pages(pages))


def _has_sound_copy(path: Path) -> bool:
    with tempfile.TemporaryDirectory(prefix="palazzo-pages-", dir=path.parent) as directory:
        pages_copy = Path(directory) / path.name
        copy_pages(path, pages_copy)
        return _has_sound_pages(pages_copy)


def copy_pages(palace: Path, target: Path) -> None:
    """Copy a palace's pages unchanged, with their checksums, at one moment; other programs may use it meanwhile.

    Raises NotAPalace for a file that SQLite cannot start reading.
    """
    if page_checksums.install():
        plain = raw_database.plain_system()
    with explain_errors(palace):
        source = apsw.Connection(str(palace), flags=apsw.SQLITE_OPEN_READONLY, vfs=plain)
        with contextlib.closing(source):
            source.set_busy_handler(palace_opening.Patience())
            source.execute("BEGIN")
            target.touch(0o600)
            destination = apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE, vfs=plain)
            with contextlib.closing(destination), destination.backup("main", source, "main") as pages:
                while not pages.step(16_384):
                    pass


def damaged_pages(pages: PageFile) -> Iterator[int]:
    """Yield the pages that do not match their checksums, except the first: each copy rewrites it.

    The checksum of zeros is zero, so a page of zeros matches it. SQLite uses no such page.
    """
    compares = pages.has_checksums and page_checksums.install()
    empty_page = bytes(pages.page_size)
    unused_pages = pages.free_pages() | {pages.lock_page}
    with contextlib.closing(apsw.Connection(":memory:")) as connection:
        for page in range(2, pages.count + 1):
            try:
                body = pages.read(page)
            except UnreadablePage:
                yield page
                continue
            if body == empty_page:
                is_right = page in unused_pages
            else:
                is_right = not compares or _matches(connection, body)
            if not is_right:
                yield page


def _matches(connection: apsw.Connection, body: bytes) -> bool:
    ((is_right,),) = connection.execute("SELECT verify_checksum(?)", (body,)).fetchall()
    return bool(is_right)


def salvage(damaged_file: Path, target: Path) -> Salvage:
    """Write all readable rows of `damaged_file` (see `copy_pages`) into the new palace `target`.

    Raises NotAPalace if the schema cannot be read.
    """
    try:
        with PageFile(damaged_file) as pages, contextlib.closing(_create(target)) as connection:
            return _Work(pages, connection).carry_out()
    except UnreadablePage as error:
        raise _unknowable(damaged_file) from error


def _unknowable(path: Path) -> NotAPalace:
    return NotAPalace(
        f"The pages of {path} that list its tables cannot be read, so nothing was recovered from it. 'palazzo backup "
        "--list' lists the backups."
    )


def _create(target: Path) -> apsw.Connection:
    with contextlib.suppress(FileNotFoundError):
        target.unlink()
    connection = palace_opening.open_file(target, "write", False, _CACHE_MB)
    for setting in ("foreign_keys=OFF", "journal_mode=OFF", "synchronous=OFF"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    connection.execute(f"PRAGMA application_id={palace_opening.APPLICATION_ID}")
    return connection


@frozen
class _Object:
    """A table or an index in the damaged file's schema."""

    kind: str
    name: str
    table: str
    root: int
    sql: str | None

    @property
    def is_table(self) -> bool:
        """Whether its rows have a rowid."""
        return self.kind == "table" and not (self.sql or "").upper().rstrip().endswith("WITHOUT ROWID")

    @property
    def is_virtual(self) -> bool:
        """Whether it is a keyword index (FTS5). SQLite creates its shadow tables, and `derive` refills them."""
        return (self.sql or "").upper().startswith("CREATE VIRTUAL")


@dataclass(slots=True)
class _Work:
    pages: PageFile
    connection: apsw.Connection
    objects: dict[str, _Object] = field(default_factory=dict)
    trees: dict[str, Tree] = field(default_factory=dict)
    lost_rows: dict[str, int | None] = field(default_factory=dict)
    ids: dict[str, list[str]] = field(default_factory=dict)

    def carry_out(self) -> Salvage:
        """Copy all readable data."""
        self._read_schema()
        self._make_tables()
        self.connection.execute("BEGIN")
        copied_tables = [table for table in self.objects.values() if self._is_taken(table)]
        for table in copied_tables:
            self._take_rows(table)
        self._take_orphans(copied_tables)
        for table in copied_tables:
            if self.trees[table.name].gaps:
                self._count_lost(table)
        doubtful = tuple(self._doubtful())
        has_dropped_derived = any(name in self.lost_rows or name in doubtful for name in salvage_rules.DERIVED_TABLES)
        if has_dropped_derived:
            for name in salvage_rules.DERIVED_TABLES:
                self._run(f'DELETE FROM "{name}"')
        salvage_rules.settle(self.connection, frozenset(self.lost_rows))
        self.connection.execute("COMMIT")
        self._make_indexes()
        doubtful = tuple(name for name in doubtful if name not in salvage_rules.DERIVED_TABLES)
        return Salvage(tuple(self._losses()), doubtful, has_dropped_derived)

    # --- the schema ------------------------------------------------------------------------------------------

    def _read_schema(self) -> None:
        tree = Tree()
        for row in self.pages.rows(1, True, tree):
            if len(row.values) == 5 and isinstance(row.values[3], int) and isinstance(row.values[1], str):
                kind, name, table, root, sql = row.values
                self.objects[str(name)] = _Object(str(kind), str(name), str(table), int(str(root)), _text(sql))
        expected = schema.objects()
        if tree.gaps and any(kind == "table" and name not in self.objects for kind, name, _, _ in expected):
            raise UnreadablePage("a table is unknown")
        for kind, name, table, sql in expected if tree.gaps else ():
            self.objects.setdefault(name, _Object(kind, name, table, 0, sql))

    def _make_tables(self) -> None:
        for entry in self.objects.values():
            if (
                entry.kind == "table"
                and entry.sql
                and not self._is_shadow(entry.name)
                and not entry.name.startswith("sqlite_")
            ):
                self._run(entry.sql)
                if "fts5(" in entry.sql:
                    self._run(f'INSERT INTO "{entry.name}"("{entry.name}", rank) VALUES(\'secure-delete\', 1)')
        for entry in self.objects.values():
            if entry.kind == "index" and entry.sql and "UNIQUE" in entry.sql.upper().split("INDEX")[0]:
                self._run(entry.sql)

    def _make_indexes(self) -> None:
        index_names = {
            name for (name,) in self.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")
        }
        for entry in self.objects.values():
            if entry.kind == "index" and entry.sql and entry.name not in index_names:
                self._run(entry.sql)

    def _is_shadow(self, name: str) -> bool:
        """Whether a table belongs to a keyword index."""
        if self.objects[name].is_virtual:
            return False
        return any(entry.is_virtual and name.startswith(f"{entry.name}_") for entry in self.objects.values())

    def _is_taken(self, entry: _Object) -> bool:
        is_own = entry.name == "sqlite_sequence" or not entry.name.startswith("sqlite_")
        return entry.kind == "table" and is_own and not entry.is_virtual and not self._is_shadow(entry.name)

    # --- rows ------------------------------------------------------------------------------------------------

    def _take_rows(self, table: _Object) -> None:
        tree = self.trees[table.name] = Tree()
        columns = _Columns.of(self.connection, table)
        if table.name == "sqlite_sequence":
            self._run("DELETE FROM sqlite_sequence")
        self._insert(table, columns, self.pages.rows(table.root, table.is_table, tree))

    def _insert(self, table: _Object, columns: _Columns, rows: Iterator[Row] | Sequence[Row]) -> None:
        changes_before = self.connection.total_changes()
        count = 0
        for row in rows:
            values = columns.values(row)
            if values is not None:
                count += 1
                with contextlib.suppress(apsw.ConstraintError, apsw.MismatchError):
                    self.connection.execute(columns.insert, values)
        refused_count = count - (self.connection.total_changes() - changes_before)
        if refused_count and table.name != "sqlite_sequence":
            self.lost_rows[table.name] = (self.lost_rows.get(table.name) or 0) + refused_count

    def _take_orphans(self, copied_tables: Sequence[_Object]) -> None:
        """Assign leaves below a damaged interior page to the table with a gap there, if they look like its rows."""
        broken_tables = [
            table for table in copied_tables if any(gap.is_interior for gap in self.trees[table.name].gaps)
        ]
        if not broken_tables:
            return
        for entry in self.objects.values():  # also what is not taken has its pages
            if entry.name not in self.trees and entry.root:
                tree = self.trees[entry.name] = Tree()
                for _ in self.pages.rows(entry.root, entry.is_table, tree):
                    pass
        known_pages = {1}.union(*(tree.pages for tree in self.trees.values()))
        columns = {table.name: _Columns.of(self.connection, table) for table in broken_tables}
        for is_table, rows in self.pages.orphans(known_pages):
            for table in broken_tables:
                gaps = [gap for gap in self.trees[table.name].gaps if gap.is_interior]
                fits = table.is_table == is_table and all(
                    columns[table.name].fits(row)
                    and any(gap.low < row.rowid <= gap.high or not is_table for gap in gaps)
                    for row in rows
                )
                if fits:
                    self._insert(table, columns[table.name], rows)
                    break

    # --- losses ----------------------------------------------------------------------------------------------

    def _count_lost(self, table: _Object) -> None:
        """Find the lost rows through the table's indexes, if it has any."""
        columns = _Columns.of(self.connection, table)
        values_by_key: dict[tuple[Value, ...], dict[str, Value]] = {}
        is_counted = False
        for index in self.objects.values():
            if index.kind == "index" and index.table == table.name and index.root:
                is_whole = self._read_index(index, columns, values_by_key)
                is_counted = is_counted or is_whole
        missing = {key: values for key, values in values_by_key.items() if not self._has(columns, key)}
        recovered_keys = salvage_rules.recover(self.connection, table.name, columns.key, missing)
        missing = {key: values for key, values in missing.items() if key not in recovered_keys}
        if missing or not is_counted:
            self.lost_rows[table.name] = len(missing) if is_counted else None
            self.ids[table.name] = [salvage_rules.name_of(key, values) for key, values in missing.items()][:_MOST_IDS]

    def _read_index(
        self, index: _Object, columns: _Columns, values_by_key: dict[tuple[Value, ...], dict[str, Value]]
    ) -> bool:
        """Collect an index's values for each row; return whether the index covers all rows."""
        names = [
            columns.key[0] if cid == -1 else str(name)
            for _, cid, name in self.connection.execute(_ENTRY, (index.name,))
        ]  # fmt: skip
        if not names:  # the new palace does not have the index yet
            names = salvage_rules.indexed_columns(index.sql or "", columns.key)
        tree = Tree()
        for row in self.pages.rows(index.root, False, tree):
            if len(row.values) == len(names):
                values = dict(zip(names, row.values, strict=True))
                values_by_key.setdefault(tuple(values[name] for name in columns.key), {}).update(values)
        return not tree.gaps and " WHERE " not in (index.sql or "").upper()

    def _has(self, columns: _Columns, key: tuple[Value, ...]) -> bool:
        condition = " AND ".join(f'"{name}" IS ?' for name in columns.key)
        return bool(self.connection.execute(f'SELECT 1 FROM "{columns.table}" WHERE {condition}', key).fetchall())

    def _losses(self) -> Iterator[Loss]:
        for name, count in sorted(self.lost_rows.items()):
            if name not in salvage_rules.DERIVED_TABLES:
                pages = tuple(sorted({gap.page for gap in self.trees[name].gaps}))
                yield Loss(name, count, tuple(self.ids.get(name, ())), pages)

    def _doubtful(self) -> Iterator[str]:
        wrong = set(damaged_pages(self.pages))
        for name, tree in sorted(self.trees.items()):
            if wrong & tree.pages and name in self.objects and self._is_taken(self.objects[name]):
                yield name

    def _run(self, sql: str) -> None:
        self.connection.execute(sql).fetchall()


_ENTRY = "SELECT seqno, cid, name FROM pragma_index_xinfo(?)"


@frozen
class _Columns:
    """The columns of a table: their order in stored rows, and the statement that inserts a row."""

    table: str
    names: tuple[str, ...]
    stored_order: tuple[int, ...]
    """The column of each stored value: a table without rowids stores its key first."""
    defaults: tuple[Value, ...]
    not_null: tuple[bool, ...]
    kinds: tuple[str, ...]
    alias: int | None
    """The column that is an alias of the rowid: a record does not store its value."""
    key: tuple[str, ...]

    @classmethod
    def of(cls, connection: apsw.Connection, table: _Object) -> _Columns:
        """Return the columns of an existing table."""
        table_info = connection.execute(
            'SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)', (table.name,)
        )
        rows = [
            (str(name), str(kind), bool(is_not_null), default, int(str(pk)))
            for name, kind, is_not_null, default, pk in table_info
        ]
        names = tuple(name for name, *_ in rows)
        keys = [n for _, n in sorted((pk, n) for n, (*_, pk) in enumerate(rows) if pk)]
        is_alias = table.is_table and len(keys) == 1 and rows[keys[0]][1].upper() == "INTEGER"
        stored_order = (
            [*keys, *(n for n in range(len(rows)) if n not in keys)] if not table.is_table else range(len(rows))
        )
        defaults = tuple(None if text is None else _evaluate(connection, str(text)) for *_, text, _ in rows)
        if is_alias:
            key: tuple[str, ...] = (names[keys[0]],)
        else:
            key = ("rowid",) if table.is_table else tuple(names[n] for n in keys)
        not_null = tuple(not_null and not is_alias for _, _, not_null, _, _ in rows)
        kinds = tuple(kind.upper() for _, kind, *_ in rows)
        return cls(
            table.name, names, tuple(stored_order), defaults, not_null, kinds, keys[0] if is_alias else None, key
        )

    @property
    def insert(self) -> str:
        """Return the statement that inserts a row unless it breaks a constraint."""
        names, marks = ", ".join(f'"{name}"' for name in self.names), ",".join("?" * len(self.names))
        return f'INSERT OR IGNORE INTO "{self.table}"({names}) VALUES({marks})'

    def values(self, row: Row) -> tuple[Value, ...] | None:
        """Return the values of a stored row in the order of the columns; None if it is not a row of this table."""
        if len(row.values) > len(self.names):
            return None
        values = list(self.defaults)
        for place, value in zip(self.stored_order, row.values, strict=False):
            values[place] = value
        if self.alias is not None:
            values[self.alias] = row.rowid
        return tuple(values)

    def fits(self, row: Row) -> bool:
        """Whether an orphaned row could belong to this table."""
        values = self.values(row)
        return (
            values is not None
            and len(row.values) == len(self.names)
            and not any(is_not_null and value is None for is_not_null, value in zip(self.not_null, values, strict=True))
            and all(isinstance(value, _TYPES.get(kind, object)) for kind, value in zip(self.kinds, values, strict=True))
        )


_TYPES: dict[str, tuple[type, ...]] = {
    "INTEGER": (int, type(None)),
    "TEXT": (str, type(None)),
    "BLOB": (bytes, type(None)),
    "REAL": (float, int, type(None)),
}


def _evaluate(connection: apsw.Connection, default: str) -> Value:
    ((value,),) = connection.execute(f"SELECT {default}").fetchall()
    return value


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None
