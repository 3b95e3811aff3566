"""What stands around the best candidates: neighbours, their vectors, and how much of the question a source covers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from palazzo.index.keyword_candidates import KeywordCandidates
from palazzo.index.vector_index import VectorIndex
from palazzo.store import drawers, keyword_table, use_totals
from palazzo.store.database import Connection
from palazzo.store.drawers import DrawerPlacement
from palazzo.text.word_forms import is_identifier, match_expression

_SOURCES_OF = 120
"""Candidates whose source is asked for: those further down are no source's best."""
_OFTEN = 2_000
"""Drawers from which a word is too common to be looked up source by source: it tells little, and takes long."""

Sides = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Around:
    """`rows` are the candidates looked at and their next neighbours; the rest is known of them by row or by source."""

    rows: tuple[int, ...]
    placements: Mapping[int, DrawerPlacement]
    neighbours: Mapping[int, Sides]
    cosines: Mapping[int, float]
    windows: Mapping[int, float]
    stretches: Mapping[int, float]
    coverage: Mapping[int, float]
    worth: Mapping[str, float] = field(default_factory=dict)
    """Of each word asked for that is not everywhere: its share of what all are worth (IDF)."""
    words_by_row: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """By row, which of those words it has; rows without any are absent."""
    latest: frozenset[int] = frozenset()
    """Those of `rows` that hold the rarest identifier asked for and are of the source that spoke of it last."""
    partners: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    """By row, those of `rows` and of what the session has used with which it was used, and how much that counts."""
    used: frozenset[int] = frozenset()
    """What the session that asks has used so far."""

    def share(self, row: int) -> float:
        """Return the share of what the words asked for are worth that a drawer has."""
        row_words = self.words_by_row.get(row)
        if not row_words:
            return 0.0
        return sum(
            value for word, value in self.worth.items() if word in row_words
        )  # a set's order is another each time


def look_around(
    connection: Connection,
    best: Sequence[int],
    remaining_rows: Sequence[int],
    keyword_candidates: KeywordCandidates,
    index: VectorIndex | None,
    vector: NDArray[np.float32] | None,
    uses: frozenset[int] | None = frozenset(),
) -> Around:
    """Look at the `best` candidates closely, and at the `others` only as far as their source.

    `uses` are the drawers that the session that asks has used; None where nothing that was used counts.
    """
    neighbours = _neighbours(drawers.read_neighbours(connection, best))
    neighbour_rows = set(neighbours) - set(best)
    placements = drawers.read_placements(connection, [*best, *neighbour_rows, *remaining_rows[:_SOURCES_OF]])
    rows = tuple(row for row in (*best, *sorted(neighbour_rows)) if row in placements)
    sources = sorted({placements[row].source for row in rows})
    cosines: dict[int, float] = {}
    windows: dict[int, float] = {}
    stretches: dict[int, float] = {}
    if index is not None and vector is not None:
        cosines = index.cosines_of(rows, vector)
        sides = {row: neighbours.get(row, ((), ())) for row in rows}
        near = {
            row: (row, *preceding_rows[:1], *following_rows[:1])
            for row, (preceding_rows, following_rows) in sides.items()
        }
        far = {
            row: (row, *preceding_rows[:2], *following_rows[:2])
            for row, (preceding_rows, following_rows) in sides.items()
        }
        windows, stretches = index.window_cosines((near, far), vector)
    worth, words_by_row, coverage = _weigh_words(connection, keyword_candidates, sources)
    latest = _latest(keyword_candidates, words_by_row, rows, placements)
    ids = {placements[row].uid: row for row in rows}
    partners = {} if uses is None else use_totals.partners(connection, ids, uses)
    return Around(
        rows,
        placements,
        neighbours,
        cosines,
        windows,
        stretches,
        coverage,
        worth,
        words_by_row,
        latest,
        partners,
        uses or frozenset(),
    )


def _neighbours(direct_neighbours: Mapping[int, Sides]) -> dict[int, Sides]:
    """Return the neighbours of the best, and from these those of their next neighbours, which are not asked for."""
    neighbours: dict[int, Sides] = {
        row: (preceding_rows[:2], following_rows[:2])
        for row, (preceding_rows, following_rows) in direct_neighbours.items()
    }
    for row, (preceding_rows, following_rows) in direct_neighbours.items():
        if preceding_rows:
            neighbours.setdefault(preceding_rows[0], (preceding_rows[1:3], (row, *following_rows[:1])))
        if following_rows:
            neighbours.setdefault(following_rows[0], ((row, *preceding_rows[:1]), following_rows[1:3]))
    return neighbours


def _weigh_words(
    connection: Connection, keyword_candidates: KeywordCandidates, sources: Sequence[int]
) -> tuple[dict[str, float], dict[int, frozenset[str]], dict[int, float]]:
    """Return each word's share of the worth of all, by row which words it has, and by source the share that it has.

    Words that are everywhere are worth nothing; a word that nobody said counts in the whole.
    """
    whole = sum(_idf(frequency, keyword_candidates.total) for frequency in keyword_candidates.frequencies.values())
    worth: dict[str, float] = {}
    words_by_row: dict[int, set[str]] = {}
    coverage = dict.fromkeys(sources, 0.0)
    for term, frequency in keyword_candidates.frequencies.items():
        value = _idf(frequency, keyword_candidates.total) / whole if 0 < frequency <= _OFTEN and whole > 0 else 0.0
        if value > 0:
            worth[term] = value
            rows, owners = _holders(connection, keyword_candidates, term, sources)
            for row in rows:
                words_by_row.setdefault(row, set()).add(term)
            for source in owners:
                coverage[source] += value
    return worth, {row: frozenset(terms) for row, terms in words_by_row.items()}, coverage


def _holders(
    connection: Connection, keyword_candidates: KeywordCandidates, term: str, sources: Sequence[int]
) -> tuple[list[int], set[int]]:
    """Return the drawers of these sources that hold a word, and the sources of those."""
    match = match_expression([term])
    rows = keyword_candidates.score_table.rows.get(match) if keyword_candidates.score_table else None
    if rows is None or not keyword_candidates.score_table or not sources:
        holders = keyword_table.holders(connection, match, sources)
        return [row for row, _ in holders], {source for _, source in holders}
    owners = keyword_candidates.score_table.sources[rows]
    source_mask = np.zeros(max(int(owners.max(initial=0)), *sources) + 1, dtype=bool)
    source_mask[list(sources)] = True
    inside = source_mask[owners]
    return rows[inside].tolist(), set(owners[inside].tolist())


def _latest(
    keyword_candidates: KeywordCandidates,
    words_by_row: Mapping[int, frozenset[str]],
    rows: Sequence[int],
    placements: Mapping[int, DrawerPlacement],
) -> frozenset[int]:
    identifier_frequencies = {
        term: frequency
        for term, frequency in keyword_candidates.frequencies.items()
        if frequency and is_identifier(term)
    }
    rarest = min(identifier_frequencies, key=lambda term: identifier_frequencies[term], default=None)
    holder_rows = [row for row in rows if rarest in words_by_row.get(row, ())]
    if not holder_rows:
        return frozenset()
    last = placements[max(holder_rows, key=lambda row: (placements[row].created_at, row))].source
    return frozenset(row for row in holder_rows if placements[row].source == last)


def _idf(frequency: int, total: int) -> float:
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
