"""A database's file, read page by page, also past damaged pages, at which SQLite's own readers stop.

    root ──> interior pages ──> leaves ──> rows      a page that cannot be read is a `Gap`; its neighbours are read
    all other pages ──> orphans                       leaves below a damaged interior page: nothing leads to them

From a page with a wrong checksum, the readable cells are read. The format is SQLite's
(https://sqlite.org/fileformat2.html, sections 1.4 to 1.6 and 2). No process may write to the file meanwhile. Nothing
here knows any table of Palazzo.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from palazzo.frozen_class import frozen
from palazzo.store import page_checksums
from palazzo.store.database import Value
from palazzo.store.raw_database import RawDatabase

_HEADER = 100
"""Bytes of the file's own header on its first page."""
_LOCK_BYTE = 1 << 30
"""The byte at which processes lock the file: SQLite leaves the page around it empty (section 1.4)."""
_INTERIOR_INDEX, _INTERIOR_TABLE, _LEAF_INDEX, _LEAF_TABLE = 2, 5, 10, 13
_INTERIOR = {_INTERIOR_INDEX, _INTERIOR_TABLE}
_DEEPEST = 40
"""The most levels of a tree: SQLite creates at most 20."""
_SMALLEST_ROW, _LARGEST_ROW = -(1 << 63), (1 << 63) - 1
_MOST_COLUMNS = 2_000


class UnreadablePage(Exception):
    """A page or a cell does not have the form that its place in the file requires."""


@frozen
class Row:
    """A row of a table or an entry of an index, and its page; `rowid` is 0 in an index."""

    page: int
    rowid: int
    values: tuple[Value, ...]


@frozen
class Gap:
    """An unreadable page or cell of a tree. In a table it held the rows in (low, high]."""

    page: int
    low: int
    high: int
    is_interior: bool
    """Whether other pages are below it: they may still be readable, but no page refers to them."""


@dataclass(slots=True)
class Tree:
    """The result of reading the tree of a table or an index: its gaps and its pages."""

    gaps: list[Gap] = field(default_factory=list)
    pages: set[int] = field(default_factory=set)


class PageFile:
    """A database's file, open for reading; use `with`. Raises UnreadablePage if the first page cannot be read."""

    def __init__(self, path: Path) -> None:
        self._file = RawDatabase(path)
        try:
            head = self._read_header()
            if len(head) < _HEADER or not head.startswith(b"SQLite format 3\x00"):
                raise UnreadablePage("the file has no header")
            (size,) = struct.unpack(">H", head[16:18])
            self.page_size = 65_536 if size == 1 else size
            self.has_checksums = head[20] == page_checksums.CHECKSUM_BYTES
            self.usable = self.page_size - head[20]
            if self.page_size < 512 or self.page_size & (self.page_size - 1) or self.usable < 480:
                raise UnreadablePage("the file's header is damaged")
            self.count = path.stat().st_size // self.page_size
            self.lock_page = _LOCK_BYTE // self.page_size + 1
            self._first_trunk = int.from_bytes(head[32:36])
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _read_header(self) -> bytes:
        try:
            return self._file.read(0, _HEADER)
        except OSError as error:  # the disk cannot read the sector
            raise UnreadablePage(f"the file's header: {error.strerror}") from None

    def read(self, page: int) -> bytes:
        """Return a page. Raises UnreadablePage."""
        if not 1 <= page <= self.count:
            raise UnreadablePage(f"page {page} does not exist")
        try:
            return self._file.read((page - 1) * self.page_size, self.page_size)
        except OSError as error:  # the disk cannot read the sector
            raise UnreadablePage(f"page {page}: {error.strerror}") from None

    def rows(self, root: int, is_table: bool, tree: Tree) -> Iterator[Row]:
        """Yield the readable rows of the tree with root page `root`; record its gaps in `tree`."""
        return self._walk(tree, root, is_table, _SMALLEST_ROW, _LARGEST_ROW, 0)

    def orphans(self, known_pages: set[int]) -> Iterator[tuple[bool, list[Row]]]:
        """Yield (whether it belongs to a table, rows) for each leaf that no tree and no free list refers to."""
        skipped = known_pages | self.free_pages()
        for page in range(2, self.count + 1):
            if page in skipped:
                continue
            try:
                body = self.read(page)
            except UnreadablePage:
                continue
            if body[0] in (_LEAF_INDEX, _LEAF_TABLE):
                leaf = Tree()
                is_table = body[0] == _LEAF_TABLE
                rows = list(self._cells(leaf, page, body, is_table, _SMALLEST_ROW, _LARGEST_ROW))
                if rows and not leaf.gaps:
                    yield is_table, rows

    def free_pages(self) -> set[int]:
        """Return the pages of the free list, which hold deleted rows."""
        pages: set[int] = set()
        trunk = self._first_trunk
        while trunk and trunk not in pages:
            pages.add(trunk)
            try:
                body = self.read(trunk)
            except UnreadablePage:
                break
            count = min(int.from_bytes(body[4:8]), self.usable // 4 - 2)
            pages.update(struct.unpack(f">{count}I", body[8 : 8 + 4 * count]))
            trunk = int.from_bytes(body[:4])
        return pages

    # --- pages -----------------------------------------------------------------------------------------------

    def _walk(self, tree: Tree, page: int, is_table: bool, low: int, high: int, depth: int) -> Iterator[Row]:
        try:
            if page in tree.pages or depth > _DEEPEST:
                raise UnreadablePage("a page occurs twice in a tree")
            body = self.read(page)
            kinds = (_LEAF_TABLE, _INTERIOR_TABLE) if is_table else (_LEAF_INDEX, _INTERIOR_INDEX)
            kind = body[_start(page)]
            if kind not in kinds:
                raise UnreadablePage("it is not a page of a tree")
        except UnreadablePage:
            tree.gaps.append(Gap(page, low, high, is_interior=self._may_lead_on(page)))
            return
        tree.pages.add(page)
        if kind in _INTERIOR:
            yield from self._children(tree, page, body, is_table, low, high, depth)
        else:
            yield from self._cells(tree, page, body, is_table, low, high)

    def _children(
        self, tree: Tree, page: int, body: bytes, is_table: bool, low: int, high: int, depth: int
    ) -> Iterator[Row]:
        """Follow an interior page. In an index, its own cells hold entries too."""
        for at in self._pointers(tree, page, body, low, high):
            try:
                child, key = int.from_bytes(body[at : at + 4]), high
                if is_table:
                    key, _ = _varint(body, at + 4)
                    if not low <= key <= high:
                        raise UnreadablePage("a key is out of order")
            except (UnreadablePage, IndexError):
                tree.gaps.append(Gap(page, low, high, is_interior=True))
                continue
            yield from self._walk(tree, child, is_table, low, key, depth + 1)
            if is_table:
                low = key
            else:
                yield from self._cell(tree, page, body, at + 4, is_table, low, high)
        last = int.from_bytes(body[_start(page) + 8 : _start(page) + 12])
        yield from self._walk(tree, last, is_table, low, high, depth + 1)

    def _cells(self, tree: Tree, page: int, body: bytes, is_table: bool, low: int, high: int) -> Iterator[Row]:
        for at in self._pointers(tree, page, body, low, high):
            yield from self._cell(tree, page, body, at, is_table, low, high)

    def _cell(self, tree: Tree, page: int, body: bytes, at: int, is_table: bool, low: int, high: int) -> Iterator[Row]:
        try:
            size, at = _varint(body, at)
            rowid = 0
            if is_table:
                rowid, at = _varint(body, at)
                if not low <= rowid <= high:
                    raise UnreadablePage("a row is out of order")
            values = decode_record(self._payload(tree, body, at, size, is_table))
        except (UnreadablePage, IndexError, struct.error, UnicodeDecodeError):
            tree.gaps.append(Gap(page, low, high, is_interior=False))
        else:
            yield Row(page, rowid, values)

    def _pointers(self, tree: Tree, page: int, body: bytes, low: int, high: int) -> Iterator[int]:
        start = _start(page)
        count = int.from_bytes(body[start + 3 : start + 5])
        first = start + (12 if body[start] in _INTERIOR else 8)
        room = (self.usable - first) // 2
        if count > room:
            tree.gaps.append(Gap(page, low, high, is_interior=body[start] in _INTERIOR))
            count = 0
        for n in range(count):
            at = int.from_bytes(body[first + 2 * n : first + 2 * n + 2])
            if first + 2 * count <= at < self.usable:
                yield at
            else:
                tree.gaps.append(Gap(page, low, high, is_interior=body[start] in _INTERIOR))

    def _payload(self, tree: Tree, body: bytes, at: int, size: int, is_table: bool) -> bytes:
        """Return the whole payload of a cell, including its overflow pages (section 1.6)."""
        if size > self.count * self.page_size:
            raise UnreadablePage("a cell is larger than the file")
        most = self.usable - 35 if is_table else (self.usable - 12) * 64 // 255 - 23
        if size <= most:
            if at + size > self.usable:
                raise UnreadablePage("a cell extends beyond its page")
            return body[at : at + size]
        least = (self.usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (self.usable - 4)
        local = local if local <= most else least
        if at + local + 4 > self.usable:
            raise UnreadablePage("a cell extends beyond its page")
        parts, remaining = [body[at : at + local]], size - local
        next_page = int.from_bytes(body[at + local : at + local + 4])
        while remaining > 0:
            more = self.read(next_page)
            if next_page in tree.pages and remaining == size - local:
                raise UnreadablePage("an overflow page belongs to another cell")
            tree.pages.add(next_page)
            parts.append(more[4 : 4 + min(remaining, self.usable - 4)])
            remaining -= len(parts[-1])
            next_page = int.from_bytes(more[:4])
        return b"".join(parts)

    def _may_lead_on(self, page: int) -> bool:
        """Whether an unreadable page may have child pages: yes, unless its type shows otherwise."""
        try:
            return self.read(page)[_start(page)] not in (_LEAF_INDEX, _LEAF_TABLE)
        except UnreadablePage:
            return True


def decode_record(payload: bytes) -> tuple[Value, ...]:
    """Return the values of a record (section 2.1). Raises UnreadablePage if it is malformed."""
    size, at = _varint(payload, 0)
    if not at <= size <= len(payload):
        raise UnreadablePage("a record's header is damaged")
    values: list[Value] = []
    body = size
    while at < size:
        kind, at = _varint(payload, at)
        value, width = _value(payload, body, kind)
        values.append(value)
        body += width
    if body != len(payload) or len(values) > _MOST_COLUMNS:
        raise UnreadablePage("a record's length differs from its header")
    return tuple(values)


_WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind == 0:
        return None, 0
    if width := _WIDTHS.get(kind, 0):
        return int.from_bytes(_slice(payload, at, width), signed=True), width
    if kind == 7:
        return struct.unpack(">d", _slice(payload, at, 8))[0], 8
    if kind in (8, 9):
        return kind - 8, 0
    if kind < 12:
        raise UnreadablePage("a value has an unknown type")
    width = (kind - 12) // 2
    piece = _slice(payload, at, width)
    return (piece.decode("utf-8") if kind % 2 else piece), width


def _slice(payload: bytes, at: int, width: int) -> bytes:
    if at + width > len(payload):
        raise UnreadablePage("a value extends beyond its record")
    return payload[at : at + width]


def _varint(body: bytes, at: int) -> tuple[int, int]:
    """Return a variable-length integer and its end position."""
    value = 0
    for n in range(8):
        byte = body[at + n]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + n + 1
    value = value << 8 | body[at + 8]
    return value - (1 << 64) if value >= 1 << 63 else value, at + 9


def _start(page: int) -> int:
    return _HEADER if page == 1 else 0
