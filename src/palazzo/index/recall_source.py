"""What ranking reads of an index: one protocol, over a palace (SQLite) and over a team's wings (PostgreSQL).

    candidates ──> RecallSource: neighbours, placements, cosines, holders of a word, verdicts, use ──> ranking, score

Drawers and sources are numbers that a source chooses: row ids in a palace; of a team, numbers that also name the wing.
Both get the same signals from the same words and vectors, so a rank and a score mean the same in both
(`tests/team/test_team_conformance.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from palazzo.index.keyword_candidates import KeywordCandidates
from palazzo.index.vector_index import VectorIndex
from palazzo.store import drawers, feedback_rows, keyword_table, use_totals
from palazzo.store.database import Connection
from palazzo.store.drawers import DrawerPlacement
from palazzo.text.word_forms import match_expression

Sides = tuple[tuple[int, ...], tuple[int, ...]]
"""Neighbours before and after a drawer, the nearest first."""
Windows = Mapping[int, Sequence[int]]
"""By drawer, the drawers of a window around it."""


class Holders(NamedTuple):
    """The drawers that contain a word, and the sources that do."""

    drawers: Collection[int]
    sources: Collection[int]


class RecallSource(Protocol):
    """What ranking reads of drawers for one query, all as of one moment."""

    def read_neighbours(self, rows: Sequence[int]) -> Mapping[int, Sides]:
        """Return, per drawer, up to `drawers.REACH` of its kind and thread on each side."""
        ...

    def read_placements(self, rows: Sequence[int]) -> Mapping[int, DrawerPlacement]:
        """Return where each live drawer of these belongs, and what is known of it without its text."""
        ...

    def compute_cosines(self, rows: Sequence[int]) -> Mapping[int, float]:
        """Return the cosine of each drawer that has a vector; nothing if the query has none."""
        ...

    def compute_window_cosines(self, windows: Sequence[Windows]) -> Sequence[Mapping[int, float]]:
        """Return the cosine of each window's mean vector, for each kind of windows; nothing if the query has none."""
        ...

    def find_holders(self, term: str, sources: Sequence[int]) -> Holders:
        """Return what contains a word of the query, in these sources."""
        ...

    def read_verdicts(self, rows: Sequence[int]) -> Mapping[int, float]:
        """Return what persons and agents judged of drawers, from -1 to 1, of those that were judged."""
        ...

    def read_partners(self, ids: Mapping[bytes, int]) -> Mapping[int, Mapping[int, float]]:
        """Return how strongly drawers (by id) are tied to others with which they were used."""
        ...


class SurroundingsReader:
    """Reads the places and neighbours of drawers in one snapshot; nothing is read twice."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._neighbours: dict[int, Sides] = {}
        self._placements: dict[int, DrawerPlacement] = {}

    def read_ahead(self, candidate_rows: Sequence[int], neighbours_of: int, placements_of: int) -> None:
        """Read what will be asked about likely candidates, best first: neighbours and places of so many of them.

        A search does so while it waits for the model.
        """
        sides = self.read_neighbours(candidate_rows[:neighbours_of]).values()
        next_rows = [row for earlier_rows, later_rows in sides for row in (*earlier_rows[:1], *later_rows[:1])]
        self.read_placements(list(dict.fromkeys((*candidate_rows[:placements_of], *next_rows))))

    def read_neighbours(self, rows: Sequence[int]) -> dict[int, Sides]:
        """Return the neighbours of drawers, in the order of `rows`."""
        missing = [row for row in rows if row not in self._neighbours]
        if missing:
            self._neighbours |= drawers.read_neighbours(self._connection, missing)
        return {row: self._neighbours[row] for row in rows if row in self._neighbours}

    def read_placements(self, rows: Sequence[int]) -> dict[int, DrawerPlacement]:
        """Return the places of the live drawers among these."""
        missing = [row for row in rows if row not in self._placements]
        if missing:
            self._placements |= drawers.read_placements(self._connection, missing)
        return {row: self._placements[row] for row in rows if row in self._placements}


class PalaceSource:
    """The recall source of a palace: a snapshot, and what the search of one query found in it.

    `uses` are the drawers that the asking session has used; None if use does not count. `reader` may have read ahead.
    """

    def __init__(
        self,
        connection: Connection,
        keyword_candidates: KeywordCandidates,
        index: VectorIndex | None = None,
        vector: NDArray[np.float32] | None = None,
        uses: frozenset[int] | None = None,
        reader: SurroundingsReader | None = None,
    ) -> None:
        self._connection, self._keyword_candidates = connection, keyword_candidates
        self._index, self._vector, self._uses = index, vector, uses
        self._reader = reader or SurroundingsReader(connection)

    def read_neighbours(self, rows: Sequence[int]) -> Mapping[int, Sides]:
        """Return the neighbours of drawers."""
        return self._reader.read_neighbours(rows)

    def read_placements(self, rows: Sequence[int]) -> Mapping[int, DrawerPlacement]:
        """Return the places of the live drawers among these."""
        return self._reader.read_placements(rows)

    def compute_cosines(self, rows: Sequence[int]) -> Mapping[int, float]:
        """Return the cosines of drawers, by the best passage of each."""
        return {} if self._index is None or self._vector is None else self._index.cosines_of(rows, self._vector)

    def compute_window_cosines(self, windows: Sequence[Windows]) -> Sequence[Mapping[int, float]]:
        """Return the cosines of windows."""
        if self._index is None or self._vector is None:
            return [{} for _ in windows]
        return self._index.window_cosines(windows, self._vector)

    def find_holders(self, term: str, sources: Sequence[int]) -> Holders:
        """Return the drawers of these sources that contain a word, and their sources.

        Drawers that get a list of their own make their source no holder.
        """
        found = self._keyword_candidates
        match = match_expression([term])
        rows = found.score_table.rows.get(match) if found.score_table else None
        if rows is None or not found.score_table or not sources:
            holders = keyword_table.holders(self._connection, match, sources)
            separate_rows = frozenset(found.separate_rows.tolist())
            owners = {source for row, source in holders if row not in separate_rows}
            return Holders([row for row, _ in holders], owners)
        owners_by_row = found.score_table.sources[rows]
        source_mask = np.zeros(max(int(owners_by_row.max(initial=0)), *sources) + 1, dtype=bool)
        source_mask[list(sources)] = True
        inside = source_mask[owners_by_row]
        counts = inside & ~np.isin(rows, found.separate_rows) if len(found.separate_rows) else inside
        return Holders(rows[inside].tolist(), set(owners_by_row[counts].tolist()))

    def find_holders_among(self, term: str, rows: Sequence[int]) -> list[int]:
        """Return which of these drawers contain a word."""
        table = self._keyword_candidates.score_table
        match = match_expression([term])
        holder_rows = table.rows.get(match) if table else None
        if holder_rows is not None:
            return list(map(int, np.intersect1d(holder_rows, rows)))
        sources = {placement.source for placement in self.read_placements(rows).values()}
        return [row for row, _ in keyword_table.holders(self._connection, match, sorted(sources)) if row in rows]

    def read_verdicts(self, rows: Sequence[int]) -> Mapping[int, float]:
        """Return what was judged of drawers."""
        return {row: judgement.balance for row, judgement in feedback_rows.judgements(self._connection, rows).items()}

    def read_partners(self, ids: Mapping[bytes, int]) -> Mapping[int, Mapping[int, float]]:
        """Return the drawers with which these were used."""
        return {} if self._uses is None else use_totals.partners(self._connection, dict(ids), self._uses)
