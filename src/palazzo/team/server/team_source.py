"""The recall source of the wings that a person may read: candidates and their surroundings in PostgreSQL.

Every value is computed as in a palace with the same drawers (`index/recall_source`), but for phrases: they count as
their words, because postings have no positions. Every figure counts the given wings only: how often a word occurs
elsewhere changes no score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from palazzo.index.keyword_candidates import KeywordCandidates, compute_max_bm25
from palazzo.index.nearest_vectors import NEAR
from palazzo.index.posting_lists import length_factors, word_scores
from palazzo.index.query import ParsedQuery
from palazzo.index.recall_source import Holders, Sides, Windows
from palazzo.index.vector_index import RESCORE_LIMIT, best_by_owner, best_of_each, compute_window_cosines
from palazzo.store import keyword_tokens
from palazzo.store.drawers import REACH, DrawerPlacement
from palazzo.team.server.team_database import Session
from palazzo.team.server.wing_arrays import WingArrays, number_slots, split_number
from palazzo.team.server.wing_rows import BLOCK

CANDIDATES = 200
"""Drawers of each list that are ranked, as in a palace (`index/search_pipeline`)."""
_NEIGHBOURS = """
SELECT asked.n,
 ARRAY(SELECT other.slot FROM team.drawer AS other WHERE other.wing = own.wing AND other.thread = own.thread
  AND (other.ordinal, other.start, other.slot) < (own.ordinal, own.start, own.slot)
  ORDER BY other.ordinal DESC, other.start DESC, other.slot DESC LIMIT %(reach)s),
 ARRAY(SELECT other.slot FROM team.drawer AS other WHERE other.wing = own.wing AND other.thread = own.thread
  AND (other.ordinal, other.start, other.slot) > (own.ordinal, own.start, own.slot)
  ORDER BY other.ordinal, other.start, other.slot LIMIT %(reach)s)
FROM unnest(%(wings)s::int[], %(slots)s::int[]) WITH ORDINALITY AS asked(wing, slot, n)
JOIN team.drawer AS own ON own.wing = asked.wing AND own.slot = asked.slot
"""


class TeamSource:
    """A search of some wings, by id, in one session. `names` are the wings' names."""

    def __init__(
        self,
        session: Session,
        wings: Mapping[int, WingArrays],
        names: Mapping[int, str],
        parsed_query: ParsedQuery,
        vector: NDArray[np.float32] | None,
    ) -> None:
        self._session, self._wings, self._names = session, wings, names
        self._parsed_query, self._vector = parsed_query, vector
        self._stems = {term: tuple(keyword_tokens.stems(term)) for term in parsed_query.terms}
        self._holders_by_stem: dict[str, NDArray[np.int64]] = {}
        self._members: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
        """The drawers of the examined sources, and the source of each."""

    def find_by_words(self, near_wings: Iterable[int] = ()) -> KeywordCandidates:
        """Return the best drawers by BM25, and in addition the best of some wings."""
        stem_counts = Counter(stem for stems in self._stems.values() for stem in stems)
        postings = self._session.execute(
            "SELECT wing, term, block, n, slots, counts FROM team.posting WHERE wing = ANY (%s) AND term = ANY (%s)",
            ([*self._wings], [*stem_counts]),
        ).fetchall()
        total = sum(arrays.count for arrays in self._wings.values())
        average = sum(float(arrays.lengths.sum()) for arrays in self._wings.values()) / max(total, 1) or 1.0
        factors = {wing: length_factors(arrays.lengths, average) for wing, arrays in self._wings.items()}
        frequencies = dict.fromkeys(stem_counts, 0)
        for _, term, _, n, _, _ in postings:
            frequencies[term] += n
        bm25 = {wing: np.zeros(len(arrays.lengths)) for wing, arrays in self._wings.items()}
        holders: dict[str, list[NDArray[np.int64]]] = {stem: [] for stem in stem_counts}
        for wing, term, block, _, slots, counts in postings:
            at = np.frombuffer(slots, "<u2").astype(np.int64) + block * BLOCK
            scores = word_scores(total, frequencies[term], np.frombuffer(counts, np.uint8), factors[wing][at])
            bm25[wing][at] += stem_counts[term] * scores
            holders[term].append(number_slots(wing, at))
        self._holders_by_stem = {stem: np.concatenate(own) for stem, own in holders.items() if own}
        near = _take_best({wing: bm25[wing] for wing in near_wings}, NEAR)
        row_scores = sorted({**_take_best(bm25, CANDIDATES), **near}.items(), key=lambda pair: (-pair[1], -pair[0]))
        words = {term: min((frequencies[stem] for stem in stems), default=0) for term, stems in self._stems.items()}
        max_bm25 = compute_max_bm25(list(words.values()), total)
        return KeywordCandidates(row_scores, max_bm25, words, total, frozenset(near))

    def find_nearest(self, near_wings: Iterable[int] = ()) -> tuple[dict[int, float], frozenset[int]]:
        """Return the cosines of the nearest drawers, and of those which are the nearest of some wings."""
        if self._vector is None:
            return {}, frozenset()
        count = max(RESCORE_LIMIT // max(len(self._wings), 1), 2 * CANDIDATES)
        owners, cosines = [], []
        near: dict[int, float] = {}
        for wing, arrays in self._comparable_wings():
            passages = arrays.find_near(self._vector, count)
            owners.append(number_slots(wing, arrays.slots[passages]))
            cosines.append(arrays.compute_cosines(passages, self._vector))
            if wing in near_wings:
                near.update(best_of_each(owners[-1], cosines[-1], NEAR))
        if not owners:
            return {}, frozenset()
        nearest = dict(best_of_each(np.concatenate(owners), np.concatenate(cosines), CANDIDATES))
        return nearest | near, frozenset(near)

    # --- surroundings (`RecallSource`) ----------------------------------------------------------------------

    def read_neighbours(self, rows: Sequence[int]) -> Mapping[int, Sides]:
        """Return the neighbours of drawers, in one statement."""
        wings, slots = _split(rows)
        values = {"wings": wings, "slots": slots, "reach": REACH}
        sides: dict[int, Sides] = {}
        for n, before, after in self._session.execute(_NEIGHBOURS, values):
            first = number_slots(wings[n - 1], np.zeros(1, np.int64)).item()
            sides[rows[n - 1]] = tuple(first + slot for slot in before), tuple(first + slot for slot in after)
        return sides

    def read_placements(self, rows: Sequence[int]) -> Mapping[int, DrawerPlacement]:
        """Return the places of drawers."""
        wings, slots = _split(rows)
        records = self._session.execute(
            "SELECT asked.n, source, kind, author, size, marks, drawer.wing, role, title, created_at, uid, branch"
            " FROM unnest(%s::int[], %s::int[]) WITH ORDINALITY AS asked(wing, slot, n)"
            " JOIN team.drawer ON drawer.wing = asked.wing AND drawer.slot = asked.slot",
            (wings, slots),
        )
        placements = {}
        for n, source, kind, author, size, marks, wing, role, title, created_at, uid, branch in records:
            row, name = rows[n - 1], self._names[wing]
            placements[row] = DrawerPlacement(
                row, source, kind, author, size, marks, name, role, title, created_at, bytes(uid), branch
            )
        return placements

    def compute_cosines(self, rows: Sequence[int]) -> dict[int, float]:
        """Return the cosines of drawers, by the best passage of each."""
        cosines: dict[int, float] = {}
        if self._vector is not None:
            for wing, arrays, passages in self._passages_of(rows):
                owners = number_slots(wing, arrays.slots[passages])
                cosines.update(best_by_owner(owners, arrays.compute_cosines(passages, self._vector)))
        return cosines

    def compute_window_cosines(self, windows: Sequence[Windows]) -> Sequence[Mapping[int, float]]:
        """Return the cosines of windows."""
        if self._vector is None:
            return [{} for _ in windows]
        every = list(dict.fromkeys(row for kind in windows for members in kind.values() for row in members))
        owners: list[int] = []
        vectors = [np.zeros((0, len(self._vector)), dtype=np.float32)]
        for wing, arrays, passages in self._passages_of(every):
            vectors.append(arrays.codes[passages] * arrays.scales[passages][:, None])
            owners += number_slots(wing, arrays.slots[passages]).tolist()
        vectors.append(np.zeros((1, len(self._vector)), dtype=np.float32))
        return compute_window_cosines(np.concatenate(vectors), owners, windows, self._vector)

    def find_holders(self, term: str, sources: Sequence[int]) -> Holders:
        """Return the drawers of these sources that contain a word, and their sources. The sources are the same each
        time.
        """
        if self._members is None:
            rows = self._session.execute(
                "SELECT wing, slot, source FROM team.drawer WHERE wing = ANY (%s) AND source = ANY (%s)",
                ([*self._wings], [*sources]),
            ).fetchall()
            table = np.array(rows, dtype=np.int64).reshape(-1, 3)
            self._members = number_slots(table[:, 0], table[:, 1]), table[:, 2]
        rows_of_sources, owners = self._members
        is_holder = np.ones(len(owners), dtype=np.bool_)
        for stem in self._stems[term]:
            is_holder &= np.isin(rows_of_sources, self._holders_by_stem.get(stem, np.empty(0, np.int64)))
        return Holders(rows_of_sources[is_holder].tolist(), set(owners[is_holder].tolist()))

    def read_verdicts(self, rows: Sequence[int]) -> Mapping[int, float]:
        """Return nothing: verdicts are not shared."""
        return {}

    def read_partners(self, ids: Mapping[bytes, int]) -> Mapping[int, Mapping[int, float]]:
        """Return nothing: what was used together is not shared."""
        return {}

    # --- helpers -------------------------------------------------------------------------------------------

    def _comparable_wings(self) -> list[tuple[int, WingArrays]]:
        """Return the wings whose vectors are of the query's model; words find the drawers of the others."""
        size = 0 if self._vector is None else len(self._vector)
        return [(wing, arrays) for wing, arrays in self._wings.items() if arrays.codes.shape[1] == size > 0]

    def _passages_of(self, rows: Sequence[int]) -> list[tuple[int, WingArrays, NDArray[np.int64]]]:
        """Return the passages of drawers, by wing."""
        slots_by_wing: dict[int, list[int]] = {}
        for row in rows:
            wing, slot = split_number(row)
            slots_by_wing.setdefault(wing, []).append(slot)
        return [
            (wing, arrays, arrays.find_passages(np.array(slots_by_wing[wing], dtype=np.int64)))
            for wing, arrays in self._comparable_wings()
            if wing in slots_by_wing
        ]


def _split(rows: Sequence[int]) -> tuple[list[int], list[int]]:
    pairs = [split_number(row) for row in rows]
    return [wing for wing, _ in pairs], [slot for _, slot in pairs]


def _take_best(scores_by_wing: Mapping[int, NDArray[np.float64]], count: int) -> dict[int, float]:
    """Return the drawers with the highest positive scores; of equal scores, the one with the higher number."""
    pairs: list[tuple[float, int]] = []
    for wing, scores in scores_by_wing.items():
        slots = np.flatnonzero(scores > 0)
        if len(slots) > count:
            slots = slots[np.argpartition(-scores[slots], count - 1)[:count]]
        pairs += zip(scores[slots].tolist(), number_slots(wing, slots).tolist(), strict=True)
    return {row: score for score, row in sorted(pairs, reverse=True)[:count]}
