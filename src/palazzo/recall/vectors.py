"""The vector index: every passage's vector in memory, following the change log, scanned exhaustively.

Two passes. Sign bits (one bit a dimension) are compared with the query's by exclusive-or and population
count; the nearest few hundred are scored again by their int8 codes. No graph and no clusters: there is
nothing to corrupt, and what another process wrote is there at the next search.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from palazzo.model import Micros
from palazzo.store import changes, vectors
from palazzo.store.changes import ChangeKind
from palazzo.store.database import Connection
from palazzo.store.vectors import VectorRow

FOLLOWED: tuple[ChangeKind, ...] = ("drawer+", "drawer-", "drawer~", "vector+", "reset")
RESCORED = 400
"""Nearest by sign bits that are scored again: recall@50 of 0.99 against float32 (benchmarks/vectors.py)."""
_GROWTH = 1.5
_FAR = 0xFFFF
_RELOAD_FROM = 20_000
"""Changes after which reading everything anew is cheaper than following one by one."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which passages a search may find; None lets all through."""

    rooms: frozenset[int] | None = None
    kind: str | None = None
    since: Micros | None = None
    until: Micros | None = None


class VectorIndex:
    """All live vectors of one embedder. Safe to share between threads."""

    def __init__(self, embedder: int, dimension: int) -> None:
        self.embedder, self.dimension = embedder, dimension
        self._words = -(-dimension // 64)
        self._lock = threading.Lock()
        self._seq = -1
        self._reset(0)

    def __len__(self) -> int:
        return int(self._alive[: self._size].sum())

    def follow(self, connection: Connection) -> None:
        """Take in what changed since the last call; the first call reads everything."""
        with self._lock:
            head = changes.head(connection)
            if head == self._seq:
                return
            log = [] if self._seq < 0 else changes.since(connection, self._seq, FOLLOWED, _RELOAD_FROM)
            if self._seq < 0 or len(log) == _RELOAD_FROM or any(change.kind == "reset" for change in log):
                self._load(connection)
            elif log:
                self._apply(connection, log)
            self._seq = head

    def nearest(self, query: NDArray[np.float32], limit: int, only: Filter) -> list[tuple[int, float]]:
        """Return (drawer row id, cosine) of the nearest drawers, best first; a drawer counts by its best passage."""
        with self._lock:
            slots = self._shortlist(query, max(RESCORED, 2 * limit), only)
            scores = self._cosines(slots, query)
            owners = self._drawers[slots]
        best: dict[int, float] = {}
        for owner, score in zip(owners.tolist(), scores.tolist(), strict=True):
            if score > best.get(owner, -2.0):
                best[owner] = score
        return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]

    def cosines_of(self, drawers: Iterable[int], query: NDArray[np.float32]) -> dict[int, float]:
        """Return the cosine of each of these drawers that has a vector, by its best passage."""
        with self._lock:
            wanted = [(drawer, self._slots[drawer]) for drawer in drawers if self._slots.get(drawer)]
            slots = np.array([slot for _, own in wanted for slot in own], dtype=np.int64)
            scores = self._cosines(slots, query).tolist()
        best: dict[int, float] = {}
        at = 0
        for drawer, own in wanted:
            best[drawer] = max(scores[at : at + len(own)])
            at += len(own)
        return best

    # --- scanning ------------------------------------------------------------------------------------------

    def _shortlist(self, query: NDArray[np.float32], count: int, only: Filter) -> NDArray[np.int64]:
        size = self._size
        allowed = self._allowed(only)
        candidates = np.flatnonzero(allowed)
        if len(candidates) <= count:
            return candidates
        bits = _sign_bits(query[None, :], self._words)[:, 0]
        dense = len(candidates) * 2 > size
        distance = np.zeros(size if dense else len(candidates), dtype=np.uint16)
        for word in range(self._words):
            column = self._signs[word, :size] if dense else self._signs[word, candidates]
            distance += np.bitwise_count(column ^ bits[word])
        if dense:
            distance[~allowed] = _FAR
        nearest = np.argpartition(distance, count - 1)[:count]
        return nearest if dense else candidates[nearest]

    def _allowed(self, only: Filter) -> NDArray[np.bool_]:
        size = self._size
        allowed = self._alive[:size].copy()
        if only.rooms is not None:
            table = np.zeros(max(int(self._rooms[:size].max(initial=0)), *only.rooms, 0) + 1, dtype=bool)
            table[list(only.rooms)] = True
            allowed &= table[self._rooms[:size]]
        if only.kind is not None:
            allowed &= self._kinds[:size] == self._kind_codes.get(only.kind, -1)
        if only.since is not None:
            allowed &= self._created[:size] >= only.since
        if only.until is not None:
            allowed &= self._created[:size] < only.until
        return allowed

    def _cosines(self, slots: NDArray[np.int64], query: NDArray[np.float32]) -> NDArray[np.float32]:
        if not len(slots):
            return np.zeros(0, dtype=np.float32)
        scores = (self._codes[slots].astype(np.float32) @ query) * self._scales[slots]
        return scores.astype(np.float32)

    # --- following the log ---------------------------------------------------------------------------------

    def _apply(self, connection: Connection, log: list[changes.Change]) -> None:
        touched = {change.ref for change in log if change.kind in ("drawer+", "drawer-", "drawer~")}
        for change in log:
            if change.kind == "vector+":
                owner = vectors.drawer_of_passage(connection, change.ref)
                if owner is not None:
                    touched.add(owner)
        for drawer in touched:
            for slot in self._slots.pop(drawer, ()):
                self._alive[slot] = False
                self._free.append(slot)
        for row in vectors.vectors_of(connection, self.embedder, sorted(touched)):
            self._place(row)

    def _load(self, connection: Connection) -> None:
        rows = list(vectors.vectors_of(connection, self.embedder))
        self._reset(int(len(rows) * _GROWTH) + 256)
        if not rows:
            return
        count = len(rows)
        codes = np.frombuffer(b"".join(row.body for row in rows), dtype=np.int8).reshape(count, self.dimension)
        self._codes[:count] = codes
        self._signs[:, :count] = _sign_bits(codes, self._words)
        self._scales[:count] = [row.scale for row in rows]
        self._drawers[:count] = [row.drawer for row in rows]
        self._rooms[:count] = [row.room for row in rows]
        self._created[:count] = [row.created_at for row in rows]
        self._kinds[:count] = [self._kind_code(row.kind) for row in rows]
        self._alive[:count] = True
        self._size = count
        for slot, row in enumerate(rows):
            self._slots.setdefault(row.drawer, []).append(slot)

    def _place(self, row: VectorRow) -> None:
        slot = self._free.pop() if self._free else self._next_slot()
        codes = np.frombuffer(row.body, dtype=np.int8)
        self._codes[slot] = codes
        self._signs[:, slot] = _sign_bits(codes[None, :], self._words)[:, 0]
        self._scales[slot], self._drawers[slot], self._rooms[slot] = row.scale, row.drawer, row.room
        self._created[slot], self._kinds[slot] = row.created_at, self._kind_code(row.kind)
        self._alive[slot] = True
        self._slots.setdefault(row.drawer, []).append(slot)

    def _next_slot(self) -> int:
        if self._size == len(self._alive):
            self._grow(int(self._size * _GROWTH) + 256)
        self._size += 1
        return self._size - 1

    def _kind_code(self, kind: str) -> int:
        return self._kind_codes.setdefault(kind, len(self._kind_codes))

    def _reset(self, capacity: int) -> None:
        self._size = 0
        self._free: list[int] = []
        self._slots: dict[int, list[int]] = {}
        self._kind_codes: dict[str, int] = {}
        self._codes: NDArray[np.int8] = np.zeros((capacity, self.dimension), dtype=np.int8)
        self._signs: NDArray[np.uint64] = np.zeros((self._words, capacity), dtype=np.uint64)
        self._scales: NDArray[np.float32] = np.zeros(capacity, dtype=np.float32)
        self._drawers: NDArray[np.int64] = np.zeros(capacity, dtype=np.int64)
        self._rooms: NDArray[np.int32] = np.zeros(capacity, dtype=np.int32)
        self._created: NDArray[np.int64] = np.zeros(capacity, dtype=np.int64)
        self._kinds: NDArray[np.int8] = np.zeros(capacity, dtype=np.int8)
        self._alive: NDArray[np.bool_] = np.zeros(capacity, dtype=bool)

    def _grow(self, capacity: int) -> None:
        for name in ("_codes", "_scales", "_drawers", "_rooms", "_created", "_kinds", "_alive"):
            old = getattr(self, name)
            new = np.zeros((capacity, *old.shape[1:]), dtype=old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)
        signs = np.zeros((self._words, capacity), dtype=np.uint64)
        signs[:, : self._signs.shape[1]] = self._signs
        self._signs = signs


def _sign_bits(rows: NDArray[np.int8] | NDArray[np.float32], words: int) -> NDArray[np.uint64]:
    """Return the signs of (n, dimension) as (words, n) of 64-bit words; a missing dimension counts as zero."""
    packed = np.packbits(rows > 0, axis=1, bitorder="little")
    padded = np.zeros((len(rows), words * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return np.ascontiguousarray(padded.view(np.uint64).T)
