"""The vector index: every passage's vector in memory, following the change log, scanned exhaustively.

Two passes. Sign bits (`sign_bits`) select the nearest few hundred, which are scored again by their int8 codes. There is
no graph and there are no clusters, so nothing can be corrupted, and the next search sees what another process wrote.

Vectors are only appended. Retired vectors are marked dead; when there are many of them, the whole index is read again.

With a file (`vector_file`), a process reads the columns of all vectors at once, and codes when they are scored.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat, zip_longest
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from palazzo.frozen_class import frozen
from palazzo.index.sign_bits import Signs
from palazzo.index.vector_codes import VectorCodes
from palazzo.index.vector_file import VectorColumns, VectorFile
from palazzo.model import Micros
from palazzo.store import change_log, vector_rows
from palazzo.store.change_log import ChangeKind
from palazzo.store.database import Connection, Database
from palazzo.store.palace_state import PalaceState
from palazzo.store.vector_rows import VectorRow

CHANGE_KINDS: tuple[ChangeKind, ...] = ("drawer+", "drawer-", "drawer~", "vector+", "reset")
RESCORE_LIMIT = 1600
"""The number of nearest vectors by sign bits that are scored again, in a millisecond: recall@50 of 0.99 against
float32, with a margin for palaces larger than could be measured (benchmarks/vectors.py).
"""
_RELOAD_FROM = 20_000
"""The number of changes above which a full reload is cheaper than applying them one by one."""
_MOST_DEAD = 0.25
"""The share of dead vectors above which everything is reloaded."""
_SPARSE = 6
"""If a filter admits less than one vector in this many, the admitted vectors are gathered and searched; otherwise all
are scanned and the others are dropped (measured at 1.6 million: 25 ns per gathered vector, 5 ns per scanned one).
"""
_BEST_OF = 3
"""Of this many passages for each drawer that is wanted, the best are sorted first; seldom are more needed."""
_FILTERS_HELD, _QUERIES_HELD = 16, 4
_GROWTH = 1.5
_ROWS_AT_ONCE = 8192
_LEAST_SAVED, _CHANGED_SHARE = 1000, 0.1
"""The number of vectors from which on the file is written, and the share that changed after which it is written again:
all together it is written some ten times as often as each vector is added.
"""


@frozen
class Filter:
    """Which passages a search may find; None admits all. `other_than` is a kind that is not admitted."""

    rooms: frozenset[int] | None = None
    kind: str | None = None
    since: Micros | None = None
    until: Micros | None = None
    drawers: frozenset[int] | None = None
    other_than: str | None = None


EVERYTHING = Filter()
_Row = TypeVar("_Row")
_SlotSelection = tuple[NDArray[np.bool_], NDArray[np.int64] | None]
"""A mask of slots, and the slot numbers if they are few."""


class VectorIndex:
    """All live vectors of one embedder. Safe to share between threads."""

    def __init__(self, embedder: int, dimension: int, file: VectorFile | None = None) -> None:
        self.embedder, self.dimension, self._file = embedder, dimension, file
        self._lock = threading.Lock()
        self._query_vectors: dict[str, NDArray[np.float32]] = {}
        self._seq = -1
        self._size = self._loaded = self._dead = self._unsaved = 0
        self._to_save: tuple[PalaceState, VectorColumns] | None = None
        self._reset(0)

    @classmethod
    def with_file(cls, database: Database, embedder: tuple[int, str, int]) -> VectorIndex:
        """Return an index of the vectors of an embedder, (row id, name, dimension), that uses the palace's file."""
        row, name, dimension = embedder
        return cls(row, dimension, VectorFile(database, row, name, dimension))

    def __len__(self) -> int:
        return self._size - self._dead

    def follow(self, connection: Connection) -> None:
        """Process changes since the last call; the first call reads everything."""
        with self._lock:
            head = change_log.head(connection)
            if head == self._seq:
                return
            if self._seq < 0:
                self._read_file(connection)
            log = [] if self._seq < 0 else change_log.since(connection, self._seq, CHANGE_KINDS, _RELOAD_FROM)
            if self._seq < 0 or len(log) == _RELOAD_FROM or any(change.kind == "reset" for change in log):
                self._load(connection)
            elif log:
                self._apply_changes(connection, log)
                if self._dead > self._size * _MOST_DEAD:
                    self._load(connection)
            self._seq = head
            if self._file is not None and self._unsaved > max(_LEAST_SAVED, len(self) * _CHANGED_SHARE):
                self._to_save, self._unsaved = (PalaceState.read(connection, head), self._live_columns()), 0

    def save(self) -> None:
        """Write the file if much changed since it was written. Call it outside of a snapshot."""
        with self._lock:
            to_save, self._to_save = self._to_save, None
        if to_save is not None and self._file is not None:
            self._file.write(*to_save)

    def read_codes(self) -> None:
        """Read all codes that are not in memory, in one pass over the table, while others search."""
        with self._lock:
            codes, file = self._codes, self._file
            if file is None or not codes.has_unread(self._size):
                return
            sorted_slots = codes.sort_slots(self._size)
        for rows in _blocks(file.read_all_codes()):
            with self._lock:
                if codes is not self._codes:  # the index was read anew meanwhile, with all codes
                    return
                codes.fill(sorted_slots, rows)

    def embed_query(self, text: str, embed: Callable[[str], NDArray[np.float32]]) -> NDArray[np.float32]:
        """Return the vector of a query; those of the last queries are remembered: a hook asks the same in each wing."""
        with self._lock:
            vector = self._query_vectors.get(text)
        if vector is None:
            vector = embed(text)
            with self._lock:
                self._query_vectors[text] = vector
                if len(self._query_vectors) > _QUERIES_HELD:
                    del self._query_vectors[next(iter(self._query_vectors))]
        return vector

    def nearest(self, query: NDArray[np.float32], limit: int, passage_filter: Filter) -> list[tuple[int, float]]:
        """Return (drawer row ID, cosine) of the nearest drawers, best first; a drawer's best passage counts."""
        with self._lock:
            slots = np.sort(self._shortlist(query, max(RESCORE_LIMIT, 2 * limit), passage_filter))
            scores = self._codes.cosines(slots, query)
            owners = self._drawers[slots]
        return best_of_each(owners, scores, limit)

    def cosines_of(self, drawers: Iterable[int], query: NDArray[np.float32]) -> dict[int, float]:
        """Return the cosine of each of these drawers that has a vector, by its best passage."""
        with self._lock:
            slots = self._slots_of(list(drawers))
            scores = self._codes.cosines(slots, query)
            owners = self._drawers[slots]
        return best_by_owner(owners, scores)

    def window_cosines(
        self, kinds: Sequence[Mapping[int, Sequence[int]]], query: NDArray[np.float32]
    ) -> list[dict[int, float]]:
        """Return, by key, each window's cosine for each kind: of the mean of its drawers' best passages."""
        every = sorted(set().union(*(members for kind in kinds for members in kind.values())))
        with self._lock:
            slots = self._slots_of(every)
            vectors = self._codes.vectors(slots)
            owners = self._drawers[slots].tolist()
        return compute_window_cosines(vectors, owners, kinds, query)

    # --- scanning ------------------------------------------------------------------------------------------

    def _shortlist(self, query: NDArray[np.float32], count: int, passage_filter: Filter) -> NDArray[np.int64]:
        """Return the slots of the `count` allowed vectors whose signs differ least from the query's."""
        mask, slots = self._select_slots(passage_filter)
        if slots is not None:
            return self._signs.nearest_among(query, slots, count)
        return self._signs.nearest(query, mask, count)

    def _select_slots(self, passage_filter: Filter) -> _SlotSelection:
        """Return which slots `only` admits. Cached until something changes: many questions ask in one wing."""
        selection = self._allowed_by.get(passage_filter)
        if selection is None:
            mask = self._mask(passage_filter)
            slots = np.flatnonzero(mask)
            selection = (mask[:0], slots) if len(slots) * _SPARSE < self._size else (mask, None)
            if len(self._allowed_by) >= _FILTERS_HELD:
                self._allowed_by.clear()
            self._allowed_by[passage_filter] = selection
        return selection

    def _mask(self, passage_filter: Filter) -> NDArray[np.bool_]:
        size = self._size
        if passage_filter == EVERYTHING:
            return self._alive[:size]
        mask = self._alive[:size].copy()
        if passage_filter.rooms is not None:
            table = np.zeros(max(int(self._rooms[:size].max(initial=0)), *passage_filter.rooms, 0) + 1, dtype=bool)
            table[list(passage_filter.rooms)] = True
            mask &= table[self._rooms[:size]]
        if passage_filter.kind is not None:
            mask &= self._kinds[:size] == self._kind_codes.get(passage_filter.kind, -1)
        if passage_filter.other_than is not None:
            mask &= self._kinds[:size] != self._kind_codes.get(passage_filter.other_than, -1)
        if passage_filter.since is not None:
            mask &= self._created[:size] >= passage_filter.since
        if passage_filter.until is not None:
            mask &= self._created[:size] < passage_filter.until
        if passage_filter.drawers is not None:
            mask &= np.isin(self._drawers[:size], np.array(sorted(passage_filter.drawers), dtype=np.int64))
        return mask

    def _slots_of(self, drawers: Sequence[int]) -> NDArray[np.int64]:
        """Return drawers' live slots: those loaded first are in drawer order, later ones are recorded separately."""
        slot_drawers, drawer_rows = self._drawers[: self._loaded], np.array(drawers, dtype=np.int64)
        first = np.searchsorted(slot_drawers, drawer_rows, "left")
        count = np.searchsorted(slot_drawers, drawer_rows, "right") - first
        offsets = np.cumsum(count) - count
        slots = np.arange(count.sum()) + np.repeat(first - offsets, count)
        live: NDArray[np.int64] = slots[self._alive[slots]]
        if not self._appended:
            return live
        later = [slot for drawer in drawers if drawer in self._appended for slot in self._appended[drawer]]
        return np.concatenate([live, np.array(later, dtype=np.int64)])

    # --- following the log ---------------------------------------------------------------------------------

    def _apply_changes(self, connection: Connection, log: list[change_log.Change]) -> None:
        drawer_rows = {change.ref for change in log if change.kind in ("drawer+", "drawer-", "drawer~")}
        passage_rows = [change.ref for change in log if change.kind == "vector+"]
        drawer_rows.update(vector_rows.drawers_of_passages(connection, passage_rows))
        self._allowed_by.clear()
        slots = self._slots_of(list(drawer_rows))
        self._alive[slots] = False
        self._dead += len(slots)
        self._unsaved += len(slots)
        for drawer in drawer_rows:
            self._appended.pop(drawer, None)
        for rows in _blocks(vector_rows.vectors_of(connection, self.embedder, sorted(drawer_rows))):
            first = self._size
            self._append(rows)
            for n, row in enumerate(rows):
                self._appended.setdefault(row.drawer, []).append(first + n)

    def _live_columns(self) -> VectorColumns:
        """Return the columns of the live vectors, in the order of the drawers, in which `_load` reads them."""
        slots = np.flatnonzero(self._alive[: self._size])
        slots = slots[np.argsort(self._drawers[slots], kind="stable")]
        return VectorColumns(
            self._signs.planes_of(slots),
            self._codes.hashes[slots],
            self._drawers[slots],
            self._rooms[slots],
            self._created[slots],
            self._kinds[slots],
            tuple(self._kind_codes),
        )

    def _load(self, connection: Connection) -> None:
        self._reset(vector_rows.newest_passage(connection))
        for rows in _blocks(vector_rows.vectors_of(connection, self.embedder)):
            self._append(rows)
        self._loaded = self._size

    def _append(self, rows: Sequence[VectorRow]) -> None:
        first, end = self._size, self._size + len(rows)
        if end > len(self._alive):
            self._grow(int(end * _GROWTH))
        codes = np.frombuffer(b"".join(row.body for row in rows), dtype=np.int8).reshape(len(rows), self.dimension)
        self._codes.put(first, [row.hash for row in rows], [row.scale for row in rows], codes)
        self._signs.put(first, codes)
        self._drawers[first:end] = [row.drawer for row in rows]
        self._rooms[first:end] = [row.room for row in rows]
        self._created[first:end] = [row.created_at for row in rows]
        self._kinds[first:end] = [self._kind_code(row.kind) for row in rows]
        self._alive[first:end] = True
        self._size = end
        self._unsaved += len(rows)

    def _kind_code(self, kind: str) -> int:
        return self._kind_codes.setdefault(kind, len(self._kind_codes))

    def _reset(self, capacity: int) -> None:
        """Start empty. Memory for `capacity` vectors is reserved; the system allocates it as it is filled."""
        self._size = self._loaded = self._dead = 0
        self._appended: dict[int, list[int]] = {}
        self._allowed_by: dict[Filter, _SlotSelection] = {}
        self._kind_codes: dict[str, int] = {}
        self._signs: Signs = Signs(self.dimension, capacity)
        self._codes: VectorCodes = VectorCodes(self.dimension, capacity)
        self._drawers: NDArray[np.int64] = np.zeros(capacity, dtype=np.int64)
        self._rooms: NDArray[np.int32] = np.zeros(capacity, dtype=np.int32)
        self._created: NDArray[np.int64] = np.zeros(capacity, dtype=np.int64)
        self._kinds: NDArray[np.int8] = np.zeros(capacity, dtype=np.int8)
        self._alive: NDArray[np.bool_] = np.zeros(capacity, dtype=bool)

    def _read_file(self, connection: Connection) -> None:
        """Start with the columns of the file, if it is of this palace's past."""
        file_content = self._file.read(connection) if self._file is not None else None
        if file_content is None or self._file is None:
            return
        self._seq, columns = file_content
        self._reset(0)
        self._size = self._loaded = len(columns.drawers)
        self._signs = Signs.of_planes(self.dimension, columns.planes)
        self._codes = VectorCodes.unread(self.dimension, columns.hashes, self._file.read_codes)
        self._drawers, self._rooms, self._created = columns.drawers, columns.rooms, columns.created
        self._kinds, self._kind_codes = columns.kinds, {name: n for n, name in enumerate(columns.kind_names)}
        self._alive = np.ones(self._size, dtype=bool)

    def _grow(self, capacity: int) -> None:
        for name in ("_drawers", "_rooms", "_created", "_kinds", "_alive"):
            old = getattr(self, name)
            new = np.zeros((capacity, *old.shape[1:]), dtype=old.dtype)
            new[: self._size] = old[: self._size]
            setattr(self, name, new)
        self._signs.grow(capacity)
        self._codes.grow(capacity, self._size)


def best_of_each(owners: NDArray[np.int64], scores: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
    """Return (owner, its highest score) of the best `limit`, best first; for equal scores, the older drawer first."""
    if len(scores) > _BEST_OF * limit:
        least = np.partition(scores, -_BEST_OF * limit)[-_BEST_OF * limit]
        leading = np.flatnonzero(scores >= least)
        best = _first_of_each(owners[leading], scores[leading])
        if len(best) >= limit:
            return best[:limit]
    return _first_of_each(owners, scores)[:limit]


def _first_of_each(owners: NDArray[np.int64], scores: NDArray[np.float32]) -> list[tuple[int, float]]:
    order = np.lexsort((owners, -scores))
    _, first_places = np.unique(owners[order], return_index=True)
    places = order[np.sort(first_places)]
    return list(zip(owners[places].tolist(), scores[places].tolist(), strict=True))


def best_by_owner(owners: NDArray[np.int64], scores: NDArray[np.float32]) -> dict[int, float]:
    """Return the highest score of each owner, in the order of their first scores."""
    best: dict[int, float] = {}
    for owner, score in zip(owners.tolist(), scores.tolist(), strict=True):
        if owner not in best or score > best[owner]:
            best[owner] = score
    return best


def compute_window_cosines(
    vectors: NDArray[np.float32],
    owners: Sequence[int],
    kinds: Sequence[Mapping[int, Sequence[int]]],
    query: NDArray[np.float32],
) -> list[dict[int, float]]:
    """Return, by key, each window's cosine for each kind: of the mean of its drawers' best passages.

    `vectors` are (passages + 1, dimension), the last of them zero; `owners` are the passages' drawers.
    """
    cosines = np.einsum("ij,j->i", vectors[:-1], query).tolist()
    best: dict[int, int] = {}
    for n, owner in enumerate(owners):
        if owner not in best or cosines[n] > cosines[best[owner]]:
            best[owner] = n
    return [_mean_cosines(vectors, best, kind, query) for kind in kinds]


def _mean_cosines(
    vectors: NDArray[np.float32],
    at: Mapping[int, int],
    windows: Mapping[int, Sequence[int]],
    query: NDArray[np.float32],
) -> dict[int, float]:
    """Return, by key, the cosine of the mean vector of a window's drawers that have one; `at` gives a drawer's row.

    The last row of `vectors` is zero.
    """
    keys = [key for key, drawers in windows.items() if not at.keys().isdisjoint(drawers)]
    if not keys:
        return {}
    nothing = len(vectors) - 1
    first, *others = (
        np.fromiter(map(at.get, place, repeat(nothing)), dtype=np.int64, count=len(keys))
        for place in zip_longest(*map(windows.__getitem__, keys), fillvalue=-1)
    )
    sums = vectors[first]
    for column in others:
        sums += vectors[column]
    lengths = np.sqrt(np.maximum(np.einsum("ij,ij->i", sums, sums), 1e-12))
    return dict(zip(keys, (np.einsum("ij,j->i", sums, query) / lengths).tolist(), strict=True))


def _blocks(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    """Yield the rows in blocks: a million vector bodies at once would take twice the index's memory."""
    every = iter(rows)
    while block := list(islice(every, _ROWS_AT_ONCE)):
        yield block
