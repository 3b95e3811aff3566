"""A palace put together anew from what can be read of a damaged one, page by page.

    damaged file ──copy──> its pages ──PageFile──> rows ──> new file, same tables     indexes are made anew
                                                        └─> losses: which table, how many, which ids, which pages

What is derived is left out where any of it is lost; `derive/rebuild` makes it again. Of truth every row is taken that
can be read, also those that only an index still tells of (`salvage_rules`). What refers to a lost row is mended, so
that every reference leads somewhere. What the chain says of it all is settled afterwards by `archive/lost_bodies`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from palazzo.errors import NotAPalace
from palazzo.store import checksums, opening, salvage_rules, schema
from palazzo.store.database import Value, explained
from palazzo.store.page_file import PageFile, Row, Tree, UnreadablePage

_CACHE_MB = 16
_MOST_IDS = 1_000
"""Ids of lost rows that are named for each table."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Rows of one table that cannot be read. `rows` is None where nothing tells how many; `ids` are those known."""

    table: str
    rows: int | None
    ids: tuple[str, ...]
    pages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Salvage:
    """What a salvage could not read, which tables stood on pages with a wrong checksum, and what was left out."""

    losses: tuple[Loss, ...] = ()
    doubtful: tuple[str, ...] = ()
    """Tables of which a page was read whose checksum is wrong: a value in it may be another than it was."""
    derived_dropped: bool = False
    """Whether what is derived has to be made from nothing."""


def is_sound(path: Path) -> bool:
    """Whether SQLite finds nothing wrong, and each page is what its checksum says. Also False for what is no palace."""
    try:
        with explained(path), contextlib.closing(opening.open_file(path, "read", True, _CACHE_MB)) as connection:
            if connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
                return False
        with PageFile(path) as pages:
            return not any(True for _ in wrong_checksums(pages))
    except (NotAPalace, UnreadablePage):
        return False


def copy_pages(palace: Path, target: Path) -> None:
    """Copy a palace's pages as they are, with their checksums, of one moment; whoever has it open goes on.

    Raises NotAPalace for a file that SQLite cannot begin to read.
    """
    if checksums.install():
        plain = checksums.plain_system()
    with explained(palace):
        source = apsw.Connection(str(palace), flags=apsw.SQLITE_OPEN_READONLY, vfs=plain)
        with contextlib.closing(source):
            source.set_busy_handler(opening.Patience())
            source.execute("BEGIN")
            target.touch(0o600)
            destination = apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE, vfs=plain)
            with contextlib.closing(destination), destination.backup("main", source, "main") as pages:
                while not pages.step(16_384):
                    pass


def wrong_checksums(pages: PageFile) -> Iterator[int]:
    """Yield the pages that are not what their checksums say. The first is rewritten by each copy, and left out."""
    if not pages.has_checksums or not checksums.install():
        return
    with contextlib.closing(apsw.Connection(":memory:")) as connection:
        for page in range(2, pages.count + 1):
            try:
                ((right,),) = connection.execute("SELECT verify_checksum(?)", (pages.read(page),)).fetchall()
            except UnreadablePage:
                right = 0
            if not right:
                yield page


def salvage(damaged: Path, target: Path) -> Salvage:
    """Write what can be read of the pages in `damaged` (see `copy_pages`) into the new palace `target`.

    Raises NotAPalace where the tables themselves cannot be known.
    """
    try:
        with PageFile(damaged) as pages, contextlib.closing(_create(target)) as connection:
            return _Work(pages, connection).carry_out()
    except UnreadablePage as error:
        raise _unknowable(damaged) from error


def _unknowable(path: Path) -> NotAPalace:
    return NotAPalace(
        f"The pages of {path} that say which tables there are cannot be read, so nothing was taken out of it. "
        "'palazzo backup --list' says which backups there are."
    )


def _create(target: Path) -> apsw.Connection:
    with contextlib.suppress(FileNotFoundError):
        target.unlink()
    connection = opening.open_file(target, "write", False, _CACHE_MB)
    for setting in ("foreign_keys=OFF", "journal_mode=OFF", "synchronous=OFF"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    connection.execute(f"PRAGMA application_id={opening.APPLICATION_ID}")
    return connection


@dataclass(frozen=True, slots=True)
class _Object:
    """A table or an index, as the damaged file's schema tells of it."""

    kind: str
    name: str
    table: str
    root: int
    sql: str | None

    @property
    def is_table(self) -> bool:
        """Whether its rows are known by a rowid."""
        return self.kind == "table" and not (self.sql or "").upper().rstrip().endswith("WITHOUT ROWID")

    @property
    def is_virtual(self) -> bool:
        """Whether it is a keyword index (FTS5): its own tables are made with it, and filled again by `derive`."""
        return (self.sql or "").upper().startswith("CREATE VIRTUAL")


@dataclass(slots=True)
class _Work:
    pages: PageFile
    connection: apsw.Connection
    objects: dict[str, _Object] = field(default_factory=dict)
    trees: dict[str, Tree] = field(default_factory=dict)
    lost: dict[str, int | None] = field(default_factory=dict)
    ids: dict[str, list[str]] = field(default_factory=dict)

    def carry_out(self) -> Salvage:
        """Take everything over."""
        self._read_schema()
        self._make_tables()
        self.connection.execute("BEGIN")
        taken = [one for one in self.objects.values() if self._is_taken(one)]
        for one in taken:
            self._take_rows(one)
        self._take_orphans(taken)
        for one in taken:
            if self.trees[one.name].gaps:
                self._count_lost(one)
        doubtful = tuple(self._doubtful())
        derived_dropped = any(name in self.lost or name in doubtful for name in salvage_rules.DERIVED)
        if derived_dropped:
            for name in salvage_rules.DERIVED:
                self._run(f'DELETE FROM "{name}"')
        salvage_rules.settle(self.connection, frozenset(self.lost))
        self.connection.execute("COMMIT")
        self._make_indexes()
        doubtful = tuple(name for name in doubtful if name not in salvage_rules.DERIVED)
        return Salvage(tuple(self._losses()), doubtful, derived_dropped)

    # --- the schema ------------------------------------------------------------------------------------------

    def _read_schema(self) -> None:
        tree = Tree()
        for row in self.pages.rows(1, True, tree):
            if len(row.values) == 5 and isinstance(row.values[3], int) and isinstance(row.values[1], str):
                kind, name, table, root, sql = row.values
                self.objects[str(name)] = _Object(str(kind), str(name), str(table), int(str(root)), _text(sql))
        expected = schema.objects()
        if tree.gaps and any(kind == "table" and name not in self.objects for kind, name, _, _ in expected):
            raise UnreadablePage("a table is not known")
        for kind, name, table, sql in expected if tree.gaps else ():
            self.objects.setdefault(name, _Object(kind, name, table, 0, sql))

    def _make_tables(self) -> None:
        for one in self.objects.values():
            if one.kind == "table" and one.sql and not self._is_shadow(one.name) and not one.name.startswith("sqlite_"):
                self._run(one.sql)
                if "fts5(" in one.sql:
                    self._run(f'INSERT INTO "{one.name}"("{one.name}", rank) VALUES(\'secure-delete\', 1)')
        for one in self.objects.values():
            if one.kind == "index" and one.sql and "UNIQUE" in one.sql.upper().split("INDEX")[0]:
                self._run(one.sql)

    def _make_indexes(self) -> None:
        there = {name for (name,) in self.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")}
        for one in self.objects.values():
            if one.kind == "index" and one.sql and one.name not in there:
                self._run(one.sql)

    def _is_shadow(self, name: str) -> bool:
        """Whether a table belongs to a keyword index."""
        if self.objects[name].is_virtual:
            return False
        return any(one.is_virtual and name.startswith(f"{one.name}_") for one in self.objects.values())

    def _is_taken(self, one: _Object) -> bool:
        is_own = one.name == "sqlite_sequence" or not one.name.startswith("sqlite_")
        return one.kind == "table" and is_own and not one.is_virtual and not self._is_shadow(one.name)

    # --- rows ------------------------------------------------------------------------------------------------

    def _take_rows(self, one: _Object) -> None:
        tree = self.trees[one.name] = Tree()
        columns = _Columns.of(self.connection, one)
        if one.name == "sqlite_sequence":
            self._run("DELETE FROM sqlite_sequence")
        self._insert(one, columns, self.pages.rows(one.root, one.is_table, tree))

    def _insert(self, one: _Object, columns: _Columns, rows: Iterator[Row] | Sequence[Row]) -> None:
        before = self.connection.total_changes()
        count = 0
        for row in rows:
            values = columns.values(row)
            if values is not None:
                count += 1
                with contextlib.suppress(apsw.ConstraintError, apsw.MismatchError):
                    self.connection.execute(columns.insert, values)
        refused = count - (self.connection.total_changes() - before)
        if refused and one.name != "sqlite_sequence":
            self.lost[one.name] = (self.lost.get(one.name) or 0) + refused

    def _take_orphans(self, taken: Sequence[_Object]) -> None:
        """Leaves below a damaged interior page belong to the table that has a gap there, if they look like its rows."""
        parted = [one for one in taken if any(gap.is_interior for gap in self.trees[one.name].gaps)]
        if not parted:
            return
        for one in self.objects.values():  # also what is not taken has its pages
            if one.name not in self.trees and one.root:
                tree = self.trees[one.name] = Tree()
                for _ in self.pages.rows(one.root, one.is_table, tree):
                    pass
        known = {1}.union(*(tree.pages for tree in self.trees.values()))
        columns = {one.name: _Columns.of(self.connection, one) for one in parted}
        for is_table, rows in self.pages.orphans(known):
            for one in parted:
                gaps = [gap for gap in self.trees[one.name].gaps if gap.is_interior]
                fits = one.is_table == is_table and all(
                    columns[one.name].fits(row) and any(gap.low < row.rowid <= gap.high or not is_table for gap in gaps)
                    for row in rows
                )
                if fits:
                    self._insert(one, columns[one.name], rows)
                    break

    # --- what is lost ----------------------------------------------------------------------------------------

    def _count_lost(self, one: _Object) -> None:
        """Which rows are lost is told by the table's indexes, as far as there are any."""
        columns = _Columns.of(self.connection, one)
        known: dict[tuple[Value, ...], dict[str, Value]] = {}
        is_counted = False
        for index in self.objects.values():
            if index.kind == "index" and index.table == one.name and index.root:
                is_whole = self._read_index(index, columns, known)
                is_counted = is_counted or is_whole
        missing = {key: values for key, values in known.items() if not self._has(columns, key)}
        recovered = salvage_rules.recover(self.connection, one.name, columns.key, missing)
        missing = {key: values for key, values in missing.items() if key not in recovered}
        if missing or not is_counted:
            self.lost[one.name] = len(missing) if is_counted else None
            self.ids[one.name] = [salvage_rules.name_of(key, values) for key, values in missing.items()][:_MOST_IDS]

    def _read_index(self, index: _Object, columns: _Columns, known: dict[tuple[Value, ...], dict[str, Value]]) -> bool:
        """Note what an index says of each row; return whether it tells of all rows."""
        names = [
            columns.key[0] if cid == -1 else str(name)
            for _, cid, name in self.connection.execute(_ENTRY, (index.name,))
        ]  # fmt: skip
        if not names:  # it is not made yet
            names = salvage_rules.indexed_columns(index.sql or "", columns.key)
        tree = Tree()
        for row in self.pages.rows(index.root, False, tree):
            if len(row.values) == len(names):
                values = dict(zip(names, row.values, strict=True))
                known.setdefault(tuple(values[name] for name in columns.key), {}).update(values)
        return not tree.gaps and " WHERE " not in (index.sql or "").upper()

    def _has(self, columns: _Columns, key: tuple[Value, ...]) -> bool:
        where = " AND ".join(f'"{name}" IS ?' for name in columns.key)
        return bool(self.connection.execute(f'SELECT 1 FROM "{columns.table}" WHERE {where}', key).fetchall())

    def _losses(self) -> Iterator[Loss]:
        for name, count in sorted(self.lost.items()):
            if name not in salvage_rules.DERIVED:
                pages = tuple(sorted({gap.page for gap in self.trees[name].gaps}))
                yield Loss(name, count, tuple(self.ids.get(name, ())), pages)

    def _doubtful(self) -> Iterator[str]:
        wrong = set(wrong_checksums(self.pages))
        for name, tree in sorted(self.trees.items()):
            if wrong & tree.pages and name in self.objects and self._is_taken(self.objects[name]):
                yield name

    def _run(self, sql: str) -> None:
        self.connection.execute(sql).fetchall()


_ENTRY = "SELECT seqno, cid, name FROM pragma_index_xinfo(?)"


@dataclass(frozen=True, slots=True)
class _Columns:
    """How a table's rows are stored, and how they are written."""

    table: str
    names: tuple[str, ...]
    stored: tuple[int, ...]
    """Which column each stored value is of: a table without rowids stores its key first."""
    defaults: tuple[Value, ...]
    needed: tuple[bool, ...]
    kinds: tuple[str, ...]
    alias: int | None
    """The column that is the rowid, of which the record holds nothing."""
    key: tuple[str, ...]

    @classmethod
    def of(cls, connection: apsw.Connection, one: _Object) -> _Columns:
        """Return the columns of a table that is made already."""
        told = connection.execute('SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)', (one.name,))
        rows = [(str(name), str(kind), bool(needed), default, int(str(pk))) for name, kind, needed, default, pk in told]
        names = tuple(name for name, *_ in rows)
        keys = [n for _, n in sorted((pk, n) for n, (*_, pk) in enumerate(rows) if pk)]
        is_alias = one.is_table and len(keys) == 1 and rows[keys[0]][1].upper() == "INTEGER"
        stored = [*keys, *(n for n in range(len(rows)) if n not in keys)] if not one.is_table else range(len(rows))
        defaults = tuple(None if text is None else _evaluated(connection, str(text)) for *_, text, _ in rows)
        if is_alias:
            key: tuple[str, ...] = (names[keys[0]],)
        else:
            key = ("rowid",) if one.is_table else tuple(names[n] for n in keys)
        needed = tuple(needed and not is_alias for _, _, needed, _, _ in rows)
        kinds = tuple(kind.upper() for _, kind, *_ in rows)
        return cls(one.name, names, tuple(stored), defaults, needed, kinds, keys[0] if is_alias else None, key)

    @property
    def insert(self) -> str:
        """The statement that adds a row where it breaks no rule."""
        names, marks = ", ".join(f'"{name}"' for name in self.names), ",".join("?" * len(self.names))
        return f'INSERT OR IGNORE INTO "{self.table}"({names}) VALUES({marks})'

    def values(self, row: Row) -> tuple[Value, ...] | None:
        """Return the values of a stored row in the order of the columns; None for what is no row of this table."""
        if len(row.values) > len(self.names):
            return None
        found = list(self.defaults)
        for place, value in zip(self.stored, row.values, strict=False):
            found[place] = value
        if self.alias is not None:
            found[self.alias] = row.rowid
        return tuple(found)

    def fits(self, row: Row) -> bool:
        """Whether a row that nothing leads to could be one of this table's."""
        values = self.values(row)
        return (
            values is not None
            and len(row.values) == len(self.names)
            and not any(needed and value is None for needed, value in zip(self.needed, values, strict=True))
            and all(isinstance(value, _TYPES.get(kind, object)) for kind, value in zip(self.kinds, values, strict=True))
        )


_TYPES: dict[str, tuple[type, ...]] = {
    "INTEGER": (int, type(None)),
    "TEXT": (str, type(None)),
    "BLOB": (bytes, type(None)),
    "REAL": (float, int, type(None)),
}


def _evaluated(connection: apsw.Connection, default: str) -> Value:
    ((value,),) = connection.execute(f"SELECT {default}").fetchall()
    return value


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None
