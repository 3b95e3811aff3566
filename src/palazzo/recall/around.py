"""What stands around the best candidates: neighbours, their vectors, and how much of the question a source covers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from palazzo.recall.keywords import KeywordCandidates
from palazzo.recall.vectors import VectorIndex
from palazzo.store import drawers, keywords
from palazzo.store.database import Connection
from palazzo.store.drawers import Placed
from palazzo.text.words import match_expression

_SOURCES_OF = 120
"""Candidates whose source is asked for: those further down are no source's best."""
_OFTEN = 2_000
"""Drawers from which a word is too common to be looked up source by source: it tells little, and takes long."""

Sides = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Around:
    """`rows` are the candidates looked at and their next neighbours; the rest is known of them by row or by source."""

    rows: tuple[int, ...]
    placed: Mapping[int, Placed]
    neighbours: Mapping[int, Sides]
    cosines: Mapping[int, float]
    windows: Mapping[int, float]
    stretches: Mapping[int, float]
    covered: Mapping[int, float]


def look_around(
    connection: Connection,
    best: Sequence[int],
    others: Sequence[int],
    found: KeywordCandidates,
    index: VectorIndex | None,
    vector: NDArray[np.float32] | None,
) -> Around:
    """Look at the `best` candidates closely, and at the `others` only as far as their source."""
    neighbours = _neighbours(drawers.beside(connection, best))
    beside = set(neighbours) - set(best)
    placed = drawers.placed(connection, [*best, *beside, *others[:_SOURCES_OF]])
    rows = tuple(row for row in (*best, *sorted(beside)) if row in placed)
    sources = sorted({placed[row].source for row in rows})
    cosines: dict[int, float] = {}
    windows: dict[int, float] = {}
    stretches: dict[int, float] = {}
    if index is not None and vector is not None:
        cosines = index.cosines_of(rows, vector)
        sides = {row: neighbours.get(row, ((), ())) for row in rows}
        near = {row: (row, *before[:1], *after[:1]) for row, (before, after) in sides.items()}
        far = {row: (row, *before[:2], *after[:2]) for row, (before, after) in sides.items()}
        windows, stretches = index.window_cosines((near, far), vector)
    return Around(rows, placed, neighbours, cosines, windows, stretches, _covered(connection, found, sources))


def _neighbours(beside: Mapping[int, Sides]) -> dict[int, Sides]:
    """Return the neighbours of the best, and from these those of their next neighbours, which are not asked for."""
    found: dict[int, Sides] = {row: (before[:2], after[:2]) for row, (before, after) in beside.items()}
    for row, (before, after) in beside.items():
        if before:
            found.setdefault(before[0], (before[1:3], (row, *after[:1])))
        if after:
            found.setdefault(after[0], ((row, *before[:1]), after[1:3]))
    return found


def _covered(connection: Connection, found: KeywordCandidates, sources: Sequence[int]) -> dict[int, float]:
    """Return the share of the words' worth that each source has; words that are everywhere are worth nothing."""
    worth = {term: _idf(frequency, found.total) for term, frequency in found.frequencies.items() if frequency}
    whole = sum(worth.values()) + sum(_idf(0, found.total) for f in found.frequencies.values() if not f)
    covered = dict.fromkeys(sources, 0.0)
    for term, value in worth.items():
        if found.frequencies[term] <= _OFTEN and value > 0:
            for source in keywords.sources_with(connection, match_expression([term]), sources):
                covered[source] += value
    return {source: value / whole if whole > 0 else 0.0 for source, value in covered.items()}


def _idf(frequency: int, total: int) -> float:
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
