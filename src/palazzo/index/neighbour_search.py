"""The surroundings of the best candidates: neighbours, their vectors, and how much of the question a source covers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from palazzo.frozen_class import frozen
from palazzo.index.fusion import Candidate
from palazzo.index.keyword_candidates import KeywordCandidates
from palazzo.index.recall_source import PalaceSource, RecallSource, Sides
from palazzo.store.drawers import DrawerPlacement
from palazzo.text.word_forms import is_identifier

SOURCES_OF = 120
"""The most candidates whose source is looked up: those further down are the best of no source."""
_LEAST_TOTAL = 1_000
"""The number of drawers from which the counts of a palace say how rare a word is."""
_NO_WORDS: frozenset[str] = frozenset()
_OFTEN = 2_000
"""The most drawers of a word that is looked up by source: a more common word says little and takes long."""


@frozen
class Around:
    """`rows` are the examined candidates and their next neighbours; the other fields hold data by row or by source."""

    rows: tuple[int, ...]
    placements: Mapping[int, DrawerPlacement]
    neighbours: Mapping[int, Sides]
    cosines: Mapping[int, float]
    windows: Mapping[int, float]
    stretches: Mapping[int, float]
    coverage: Mapping[int, float]
    worth: Mapping[str, float] = field(default_factory=dict)
    """By query word that is not everywhere: its share of the total worth of all query words (IDF)."""
    words_by_row: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """By row, which of those words it contains; rows without any are absent."""
    latest: frozenset[int] = frozenset()
    """Those of `rows` that contain the rarest identifier of the query and belong to the source that mentioned it
    last.
    """
    partners: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    """By row, those of `rows` and of the drawers used in the session that were used together with it, and their
    weight.
    """
    used: frozenset[int] = frozenset()
    """The rows of drawers that the current session has used so far."""
    feedback: Mapping[int, float] = field(default_factory=dict)
    """By row, what persons and agents judged of it, from -1 to 1; rows without a verdict are absent."""
    most_held: float = 0.0
    """The largest share of the query words' worth that one of `rows` contains, with worths that do not depend on the
    size of a small palace.
    """

    def compute_shares(self, rows: Iterable[int]) -> list[float]:
        """Return the share of the query words' weight that each drawer has."""
        row_words = [self.words_by_row.get(row, _NO_WORDS) for row in rows]
        shares = {  # in the order of the worths: a set's order is another each time
            words: sum(value for word, value in self.worth.items() if word in words) if words else 0.0
            for words in set(row_words)
        }
        return [shares[words] for words in row_words]


def look_around(
    recall_source: RecallSource,
    best: Sequence[int],
    remaining_rows: Sequence[int],
    keyword_candidates: KeywordCandidates,
    uses: frozenset[int] | None = frozenset(),
) -> Around:
    """Examine the `best` candidates closely, and the `remaining_rows` only as far as their source.

    `uses` are the drawers that the asking session has used; None if use does not count.
    """
    neighbours = _neighbours(recall_source.read_neighbours(best))
    neighbour_rows = set(neighbours) - set(best)
    placements = recall_source.read_placements([*best, *neighbour_rows, *remaining_rows[:SOURCES_OF]])
    rows = tuple(row for row in (*best, *sorted(neighbour_rows)) if row in placements)
    sources = sorted({placements[row].source for row in rows})
    sides = {row: neighbours.get(row, ((), ())) for row in rows}
    near = {row: (row, *earlier_rows[:1], *later_rows[:1]) for row, (earlier_rows, later_rows) in sides.items()}
    far = {row: (row, *earlier_rows[:2], *later_rows[:2]) for row, (earlier_rows, later_rows) in sides.items()}
    windows, stretches = recall_source.compute_window_cosines((near, far))
    worth, words_by_row, coverage = _weigh_words(recall_source, keyword_candidates, sources)
    return Around(
        rows,
        placements,
        neighbours,
        recall_source.compute_cosines(rows),
        windows,
        stretches,
        coverage,
        worth,
        words_by_row,
        _latest(keyword_candidates, words_by_row, rows, placements),
        recall_source.read_partners({placements[row].uid: row for row in rows}),
        uses or frozenset(),
        recall_source.read_verdicts(rows),
        _find_most_held(keyword_candidates, words_by_row, rows),
    )


def examine_reasoning(
    palace_source: PalaceSource,
    candidates: Sequence[Candidate],
    keyword_candidates: KeywordCandidates,
    around_said: Around,
) -> Around:
    """Examine reasoning candidates: without neighbours; their sources as far as `around_said` knows them."""
    rows = tuple(candidate.row for candidate in candidates)
    placements = palace_source.read_placements(rows)
    own_cosines = {candidate.row: candidate.cosine for candidate in candidates if candidate.cosine is not None}
    whole = sum(idf(frequency, keyword_candidates.total) for frequency in keyword_candidates.frequencies.values())
    worth: dict[str, float] = {}
    words_by_row: dict[int, set[str]] = {}
    for term, frequency in keyword_candidates.frequencies.items():
        if frequency and whole > 0:
            worth[term] = idf(frequency, keyword_candidates.total) / whole
            for row in palace_source.find_holders_among(term, rows):
                words_by_row.setdefault(row, set()).add(term)
    words = {row: frozenset(terms) for row, terms in words_by_row.items()}
    return Around(
        rows,
        placements,
        {},
        own_cosines,
        own_cosines,
        own_cosines,
        around_said.coverage,
        worth,
        words,
        feedback=palace_source.read_verdicts(rows),
        most_held=_find_most_held(keyword_candidates, words, rows),
    )


def _neighbours(direct_neighbours: Mapping[int, Sides]) -> dict[int, Sides]:
    """Return the neighbours of the best, and from those the neighbours of their next neighbours, without a query."""
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
    recall_source: RecallSource, keyword_candidates: KeywordCandidates, sources: Sequence[int]
) -> tuple[dict[str, float], dict[int, frozenset[str]], dict[int, float]]:
    """Return each word's share of the total weight, the words of each row, and each source's share.

    Words that occur everywhere weigh nothing; a word that occurs nowhere counts in the total.
    """
    whole = sum(idf(frequency, keyword_candidates.total) for frequency in keyword_candidates.frequencies.values())
    worth: dict[str, float] = {}
    words_by_row: dict[int, set[str]] = {}
    coverage = dict.fromkeys(sources, 0.0)
    for term, frequency in keyword_candidates.frequencies.items():
        value = idf(frequency, keyword_candidates.total) / whole if 0 < frequency <= _OFTEN and whole > 0 else 0.0
        if value > 0:
            worth[term] = value
            holders = recall_source.find_holders(term, sources)
            for row in holders.drawers:
                words_by_row.setdefault(row, set()).add(term)
            for source in holders.sources:
                coverage[source] += value
    return worth, {row: frozenset(terms) for row, terms in words_by_row.items()}, coverage


def _find_most_held(
    keyword_candidates: KeywordCandidates, words_by_row: Mapping[int, frozenset[str]], rows: Sequence[int]
) -> float:
    """Return the largest share of the query words' worth in a row; a small palace weighs words as if it were larger."""
    total = max(keyword_candidates.total, _LEAST_TOTAL)
    worth = {word: idf(frequency, total) for word, frequency in keyword_candidates.frequencies.items()}
    whole = sum(worth.values())
    if whole <= 0:
        return 0.0
    word_sets = {words_by_row.get(row, _NO_WORDS) for row in rows}
    return max((sum(worth[word] for word in sorted(words)) / whole for words in word_sets), default=0.0)


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


def idf(frequency: int, total: int) -> float:
    """Return the worth of a word that is in `frequency` of `total` drawers."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
