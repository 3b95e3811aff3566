"""Keyword candidates: BM25 over the whole scope, with a budget on how much of the index one query may read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from palazzo.recall.query import Understood
from palazzo.store import keywords
from palazzo.store.database import Connection
from palazzo.text.words import match_expression

POSTINGS_BUDGET = 25_000
"""Summed document frequency that one query may read. Ever-present words cost most and tell least: past the
budget they are left out, rarest words first in (QUALITY.md section P, benchmarks/search_latency.py)."""
_PRUNE_FROM = 20_000
"""Drawers below which every word is read: the whole index is within the budget."""
_BM25_SATURATION = 2.2
"""k1 + 1 of FTS5's BM25: the most that one word can add is its IDF times this."""


@dataclass(frozen=True, slots=True)
class KeywordCandidates:
    """(drawer row id, BM25) best first; `ceiling` is the BM25 of a drawer that holds every word often."""

    ranked: list[tuple[int, float]]
    ceiling: float
    dropped: tuple[str, ...] = ()


def find(connection: Connection, asked: Understood, filters: Sequence[str], limit: int) -> KeywordCandidates:
    """Return the best drawers by BM25 for the words and phrases asked for."""
    total = keywords.indexed_rows(connection)
    terms = list(asked.terms)
    dropped: tuple[str, ...] = ()
    if not terms and not asked.phrases:
        return KeywordCandidates([], 0.0)
    frequencies = _frequencies(connection, terms)
    if total > _PRUNE_FROM:
        terms, dropped = _within_budget(terms, frequencies)
    expression = match_expression(terms, asked.phrases)
    if not expression:
        return KeywordCandidates([], 0.0)
    ranked = keywords.matches(connection, expression, filters, limit)
    return KeywordCandidates(ranked, _ceiling(asked.terms, frequencies, total), dropped)


def _within_budget(terms: Sequence[str], frequencies: dict[str, int]) -> tuple[list[str], tuple[str, ...]]:
    """Split words into those that fit the budget, rarest first, and the rest; the rarest always fits."""
    spent = 0
    kept: list[str] = []
    dropped: list[str] = []
    for term in sorted(terms, key=lambda word: frequencies.get(word, 0)):
        cost = frequencies.get(term, 0)
        if kept and spent + cost > POSTINGS_BUDGET:
            dropped.append(term)
        else:
            kept.append(term)
            spent += cost
    return kept, tuple(dropped)


def _frequencies(connection: Connection, terms: Sequence[str]) -> dict[str, int]:
    stems = keywords.stems(connection, terms)
    counted = keywords.document_frequencies(connection, {stem for own in stems.values() for stem in own})
    return {term: min((counted.get(stem, 0) for stem in own), default=0) for term, own in stems.items()}


def _ceiling(terms: Sequence[str], frequencies: dict[str, int], total: int) -> float:
    """Return the BM25 that no drawer passes: every word's IDF, saturated. Words that most drawers hold add nothing."""
    odds = ((total - held + 0.5) / (held + 0.5) for held in (frequencies.get(term, 0) for term in terms))
    return _BM25_SATURATION * sum(math.log(max(value, 1.0)) for value in odds)
