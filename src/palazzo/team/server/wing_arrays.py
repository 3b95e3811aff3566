"""What a server keeps in memory of a wing: the lengths of its drawers, the vectors of their passages, its authors.

It stays for as long as the wing has not been built again. Whether a person may read the wing is asked each time.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palazzo.frozen_class import frozen
from palazzo.index.sign_bits import Signs
from palazzo.team.server.team_database import Session
from palazzo.team.server.wing_rows import FREE

MOST_WINGS_IN_MEMORY = 256
_SLOT_BITS = 32


def number_slots(wings: int | NDArray[np.int64], slots: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers that drawers have in a search; they are of one wing, or each of its own."""
    return slots + (wings << _SLOT_BITS)


def split_number(number: int) -> tuple[int, int]:
    """Return the wing and the slot of a drawer by its number."""
    return number >> _SLOT_BITS, number & ((1 << _SLOT_BITS) - 1)


@frozen
class WingArrays:
    """The lengths by slot; the slots (ascending), scales and codes of the passages; and who is named as an author.

    `count` is the number of drawers; a slot without one has the length 0. `signs` are those of the codes, for one
    thread at a time.
    """

    built: int
    count: int
    lengths: NDArray[np.float64]
    slots: NDArray[np.int64]
    scales: NDArray[np.float32]
    codes: NDArray[np.int8]
    signs: Signs
    authors: frozenset[str]
    lock: threading.Lock

    def find_near(self, vector: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """Return the passages that are nearest by their signs, unordered; all if there are no more than `count`."""
        if len(self.slots) <= count:
            return np.arange(len(self.slots))
        with self.lock:
            return self.signs.nearest(vector, np.ones(len(self.slots), dtype=np.bool_), count)

    def find_passages(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the passages of some slots."""
        ends = (np.searchsorted(self.slots, slots, side) for side in ("left", "right"))
        ranges = [np.arange(*pair) for pair in zip(*ends, strict=True)]
        return np.concatenate(ranges) if ranges else np.empty(0, np.int64)

    def compute_cosines(self, passages: NDArray[np.int64], vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosines of passages, computed as those of a palace (`index/vector_index`)."""
        products: NDArray[np.float32] = np.einsum("ij,j->i", self.codes[passages].astype(np.float32), vector)
        scores: NDArray[np.float32] = products * self.scales[passages]
        return scores


class WingCache:
    """The arrays of the wings that were searched last. Threads may share it."""

    def __init__(self) -> None:
        self._arrays: OrderedDict[int, WingArrays] = OrderedDict()
        self._lock = threading.Lock()

    def load(self, session: Session, wing: int, built: int) -> WingArrays:
        """Return the arrays of a wing as of its change `built`."""
        with self._lock:
            arrays = self._arrays.get(wing)
            if arrays is not None and arrays.built == built:
                self._arrays.move_to_end(wing)
                return arrays
        arrays = _read_arrays(session, wing, built)
        with self._lock:
            self._arrays[wing] = arrays
            while len(self._arrays) > MOST_WINGS_IN_MEMORY:
                self._arrays.popitem(last=False)
        return arrays


def _read_arrays(session: Session, wing: int, built: int) -> WingArrays:
    blocks = session.execute("SELECT lengths FROM team.length WHERE wing = %s ORDER BY block", (wing,)).fetchall()
    lengths = np.frombuffer(b"".join(bytes(block) for (block,) in blocks), "<u2")
    is_used = lengths != FREE
    rows: list[Any] = session.execute(
        "SELECT slot, scale, code FROM team.passage WHERE wing = %s AND embedder = ("
        "SELECT max(embedder) FROM team.passage WHERE wing = %s) ORDER BY slot, part",
        (wing, wing),
    ).fetchall()
    codes = np.frombuffer(b"".join(bytes(code) for _, _, code in rows), np.int8)
    codes = codes.reshape(len(rows), -1) if rows else codes.reshape(0, 0)
    signs = Signs(codes.shape[1], len(rows))
    if rows:
        signs.put(0, codes)
    authors = session.execute("SELECT DISTINCT author FROM team.drawer WHERE wing = %s AND author <> ''", (wing,))
    return WingArrays(
        built,
        int(is_used.sum()),
        np.where(is_used, lengths, 0).astype(np.float64),
        np.array([slot for slot, _, _ in rows], dtype=np.int64),
        np.array([scale for _, scale, _ in rows], dtype=np.float32),
        codes,
        signs,
        frozenset(author for (author,) in authors),
        threading.Lock(),
    )
