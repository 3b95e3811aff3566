"""Keyword candidates: BM25 over the whole scope, with a limit on how much of the index one query may read."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

import numpy as np

from palazzo.frozen_class import frozen
from palazzo.index import posting_lists
from palazzo.index.lexicon import Lexicon
from palazzo.index.posting_lists import RowNumbers, ScoreTable
from palazzo.index.query import ParsedQuery
from palazzo.store import keyword_table
from palazzo.store.database import Connection
from palazzo.text.word_forms import any_of, literals

POSTINGS_BUDGET = 100_000
"""The most postings, within the scope, of the words that select drawers. Scoring a drawer takes half a microsecond, so
this bounds a query's time whatever the palace's size. At a million drawers it halves the time and keeps 97 % of the ten
best; 60,000 keeps 92 % (benchmarks/search_latency.py, `pruning`).
"""
_SECONDARY_BUDGETS = 8
"""How many times the budget the words may take that only add to a score: such a posting is skipped over, at a tenth of
the cost.
"""
_PASSED_OVER = 0.1
"""The cost of a posting outside the scope, relative to one inside: it is read, but no drawer is scored for it."""
_BM25_SATURATION = 2.2
"""k1 + 1 in FTS5's BM25: one word adds at most its IDF times this."""


@frozen
class KeywordCandidates:
    """(drawer row id, BM25), best first; `max_bm25` is the BM25 of a drawer that contains every word often.

    `frequencies` gives the number of the `total` drawers in which each word occurs.
    """

    row_scores: list[tuple[int, float]]
    max_bm25: float
    frequencies: Mapping[str, int] = field(default_factory=dict)
    total: int = 0
    near: frozenset[int] = frozenset()
    """Those from a narrower scope that was requested in addition."""
    score_table: ScoreTable | None = None
    """The places of the words, if they are held in memory."""
    separate_scores: Mapping[int, float] = field(default_factory=dict)
    """The BM25 of the best of the drawers that get a list of their own."""
    separate_rows: RowNumbers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """All drawers that get a list of their own, ascending."""


def find(
    connection: Connection,
    parsed_query: ParsedQuery,
    filters: Sequence[str],
    limit: int,
    budget: float = POSTINGS_BUDGET,
    lexicon: Lexicon | None = None,
    narrow_scope: tuple[Sequence[str], int] = ((), 0),
    separate_scope: tuple[RowNumbers | None, int] = (None, 0),
) -> KeywordCandidates:
    """Return the best drawers by BM25 for the words and phrases of the query.

    The rarest are read first. Those past the budget bring no drawers of their own, but count in the score of those that
    the others bring ("MaxScore", Turtle and Flood 1995): a drawer is missed only if it contains none of the rarer
    words. A cached `lexicon` avoids counting words again for each question; `narrow_scope` are narrower filters and how
    many additional drawers they bring. `separate_scope` are drawers that get a list of their own, and the
    size of that list.
    """
    separate_rows, separate_limit = separate_scope
    separate_rows = np.zeros(0, dtype=np.int64) if separate_rows is None else separate_rows
    if not parsed_query.terms and not parsed_query.phrases:
        return KeywordCandidates([], 0.0, separate_rows=separate_rows)
    lexicon = lexicon or Lexicon()
    total = lexicon.drawers(connection)
    frequencies = _frequencies(connection, lexicon, (*parsed_query.terms, *parsed_query.phrases))
    posting_cost = 1.0
    if sum(frequencies.values()) > budget:
        share = lexicon.drawers(connection, filters) / total if total else 1.0
        posting_cost = _PASSED_OVER + (1 - _PASSED_OVER) * share
    leading, secondary_terms = (
        _strings(parsed_query, term_set) for term_set in _within_budget(frequencies, posting_cost, budget)
    )
    narrower, more = narrow_scope
    score_table = lexicon.postings.score(connection, leading, secondary_terms, filters, narrower)
    separate_scores: dict[int, float] = {}
    if score_table is None:
        scores_by_row, near = _by_index(connection, leading, secondary_terms, filters, limit, narrow_scope)
        if len(separate_rows):
            members = frozenset(separate_rows.tolist())
            separate_scores = _first(
                {row: score for row, score in scores_by_row.items() if row in members}, separate_limit
            )
            scores_by_row = {row: score for row, score in scores_by_row.items() if row not in members}
            near = {row: score for row, score in near.items() if row not in members}
    else:
        if len(separate_rows):
            separate_scores = posting_lists.best_of(score_table, separate_rows, separate_limit)
            score_table = posting_lists.drop_scores(score_table, separate_rows)
        scores_by_row = posting_lists.best(score_table.leading, limit)
        if score_table.both is not None:
            scores_by_row |= posting_lists.best(score_table.both, limit)
        near = (
            {} if score_table.narrower is None else posting_lists.best(score_table.leading, more, score_table.narrower)
        )
    best = _first(scores_by_row, limit)
    best |= near
    words = {term: frequencies[term] for term in parsed_query.terms}
    row_scores = sorted(best.items(), key=lambda pair: (-pair[1], -pair[0]))
    max_bm25 = compute_max_bm25(list(words.values()), total)
    return KeywordCandidates(
        row_scores, max_bm25, words, total, frozenset(near), score_table, separate_scores, separate_rows
    )


def _first(scores_by_row: Mapping[int, float], limit: int) -> dict[int, float]:
    return dict(sorted(scores_by_row.items(), key=lambda pair: (-pair[1], -pair[0]))[:limit])


def _by_index(
    connection: Connection,
    leading: Sequence[str],
    secondary_terms: Sequence[str],
    filters: Sequence[str],
    limit: int,
    narrow_scope: tuple[Sequence[str], int],
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the best drawers, and those in narrower filters, with FTS5's scores."""
    expression = any_of(leading)
    scores_by_row = dict(keyword_table.matches(connection, expression, filters, limit))
    if secondary_terms:
        both = f"({expression}) AND ({any_of(secondary_terms)})"
        scores_by_row.update(keyword_table.matches(connection, both, filters, limit))
    narrower, more = narrow_scope
    return scores_by_row, dict(keyword_table.matches(connection, expression, narrower, more)) if narrower else {}


def _within_budget(
    frequencies: Mapping[str, int], posting_cost: float, budget: float
) -> tuple[frozenset[str], frozenset[str]]:
    """Split words and phrases into those that bring drawers and those that only add to scores; drop the rest.

    `posting_cost` is the cost of a posting, 1 for one in the scope. The rarest that occurs always leads.
    """
    leading: set[str] = set()
    secondary_terms: set[str] = set()
    total_cost = 0.0
    for term, frequency in sorted(frequencies.items(), key=lambda pair: pair[1]):
        leads = total_cost == 0 or total_cost + frequency * posting_cost <= budget
        total_cost += frequency * posting_cost
        if leads:
            leading.add(term)
        elif total_cost <= budget * _SECONDARY_BUDGETS:
            secondary_terms.add(term)
    return frozenset(leading), frozenset(secondary_terms)


def _strings(parsed_query: ParsedQuery, term_set: Collection[str]) -> list[str]:
    return literals(
        [term for term in parsed_query.terms if term in term_set],
        [phrase for phrase in parsed_query.phrases if phrase in term_set],
    )


def _frequencies(connection: Connection, lexicon: Lexicon, terms: Sequence[str]) -> dict[str, int]:
    """Return in how many drawers each word occurs; for a phrase, the minimum of its words, an upper bound."""
    stems = keyword_table.stems(connection, terms)
    stem_counts = lexicon.frequencies(connection, {stem for own in stems.values() for stem in own})
    return {text: min((stem_counts[stem] for stem in own), default=0) for text, own in stems.items()}


def compute_max_bm25(frequencies: Sequence[int], total: int) -> float:
    """Return the upper bound of BM25: every word's saturated IDF. Words that most drawers contain add nothing."""
    odds = ((total - frequency + 0.5) / (frequency + 0.5) for frequency in frequencies)
    return _BM25_SATURATION * sum(math.log(max(value, 1.0)) for value in odds)
