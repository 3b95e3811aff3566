"""What stands around the best candidates: neighbours, their vectors, and how much of the question a source covers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from palazzo.recall.keywords import KeywordCandidates
from palazzo.recall.vectors import VectorIndex
from palazzo.store import drawers, keywords, used
from palazzo.store.database import Connection
from palazzo.store.drawers import Placed
from palazzo.text.words import is_identifier, match_expression

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
    worth: Mapping[str, float] = field(default_factory=dict)
    """Of each word asked for that is not everywhere: its share of what all are worth (IDF)."""
    held: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """By row, which of those words it has; rows without any are absent."""
    latest: frozenset[int] = frozenset()
    """Those of `rows` that hold the rarest identifier asked for and are of the source that spoke of it last."""
    partners: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    """By row, those of `rows` and of what the session has used with which it was used, and how much that counts."""
    used: frozenset[int] = frozenset()
    """What the session that asks has used so far."""

    def share(self, row: int) -> float:
        """Return the share of what the words asked for are worth that a drawer has."""
        held = self.held.get(row)
        if not held:
            return 0.0
        return sum(value for word, value in self.worth.items() if word in held)  # a set's order is another each time


def look_around(
    connection: Connection,
    best: Sequence[int],
    others: Sequence[int],
    found: KeywordCandidates,
    index: VectorIndex | None,
    vector: NDArray[np.float32] | None,
    uses: frozenset[int] | None = frozenset(),
) -> Around:
    """Look at the `best` candidates closely, and at the `others` only as far as their source.

    `uses` are the drawers that the session that asks has used; None where nothing that was used counts.
    """
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
    worth, held, covered = _held(connection, found, sources)
    latest = _latest(found, held, rows, placed)
    ids = {placed[row].uid: row for row in rows}
    partners = {} if uses is None else used.partners(connection, ids, uses)
    return Around(
        rows,
        placed,
        neighbours,
        cosines,
        windows,
        stretches,
        covered,
        worth,
        held,
        latest,
        partners,
        uses or frozenset(),
    )


def _neighbours(beside: Mapping[int, Sides]) -> dict[int, Sides]:
    """Return the neighbours of the best, and from these those of their next neighbours, which are not asked for."""
    found: dict[int, Sides] = {row: (before[:2], after[:2]) for row, (before, after) in beside.items()}
    for row, (before, after) in beside.items():
        if before:
            found.setdefault(before[0], (before[1:3], (row, *after[:1])))
        if after:
            found.setdefault(after[0], ((row, *before[:1]), after[1:3]))
    return found


def _held(
    connection: Connection, found: KeywordCandidates, sources: Sequence[int]
) -> tuple[dict[str, float], dict[int, frozenset[str]], dict[int, float]]:
    """Return each word's share of the worth of all, by row which words it has, and by source the share that it has.

    Words that are everywhere are worth nothing; a word that nobody said counts in the whole.
    """
    whole = sum(_idf(frequency, found.total) for frequency in found.frequencies.values())
    worth: dict[str, float] = {}
    held: dict[int, set[str]] = {}
    covered = dict.fromkeys(sources, 0.0)
    for term, frequency in found.frequencies.items():
        value = _idf(frequency, found.total) / whole if 0 < frequency <= _OFTEN and whole > 0 else 0.0
        if value > 0:
            worth[term] = value
            rows, owners = _holders(connection, found, term, sources)
            for row in rows:
                held.setdefault(row, set()).add(term)
            for source in owners:
                covered[source] += value
    return worth, {row: frozenset(terms) for row, terms in held.items()}, covered


def _holders(
    connection: Connection, found: KeywordCandidates, term: str, sources: Sequence[int]
) -> tuple[list[int], set[int]]:
    """Return the drawers of these sources that hold a word, and the sources of those."""
    match = match_expression([term])
    rows = found.scored.rows.get(match) if found.scored else None
    if rows is None or not found.scored or not sources:
        holders = keywords.holders(connection, match, sources)
        return [row for row, _ in holders], {source for _, source in holders}
    owners = found.scored.sources[rows]
    wanted = np.zeros(max(int(owners.max(initial=0)), *sources) + 1, dtype=bool)
    wanted[list(sources)] = True
    inside = wanted[owners]
    return rows[inside].tolist(), set(owners[inside].tolist())


def _latest(
    found: KeywordCandidates, held: Mapping[int, frozenset[str]], rows: Sequence[int], placed: Mapping[int, Placed]
) -> frozenset[int]:
    known = {term: frequency for term, frequency in found.frequencies.items() if frequency and is_identifier(term)}
    rarest = min(known, key=lambda term: known[term], default=None)
    holding = [row for row in rows if rarest in held.get(row, ())]
    if not holding:
        return frozenset()
    last = placed[max(holding, key=lambda row: (placed[row].created_at, row))].source
    return frozenset(row for row in holding if placed[row].source == last)


def _idf(frequency: int, total: int) -> float:
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
