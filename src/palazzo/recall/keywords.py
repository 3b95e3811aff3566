"""Keyword candidates: BM25 over the whole scope, with a budget on how much of the index one query may read."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from palazzo.recall import postings
from palazzo.recall.lexicon import Lexicon
from palazzo.recall.postings import Scored
from palazzo.recall.query import Understood
from palazzo.store import keywords
from palazzo.store.database import Connection
from palazzo.text.words import any_of, literals

POSTINGS_BUDGET = 100_000
"""Summed document frequency, in the scope, of the words that may bring drawers forward. Scoring a drawer takes
half a microsecond, so this bounds a query's time whatever the palace's size. At a million drawers it halves the time
and keeps 97 % of the ten best, 60,000 keeps 92 % (benchmarks/search_latency.py, `pruning`)."""
_FOLLOWING = 8
"""Budgets that the words which only add to a score may take: such a posting is passed over, at a tenth of the cost."""
_PASSED_OVER = 0.1
"""What a posting outside the scope costs of one inside: it is read, but no drawer is scored for it."""
_BM25_SATURATION = 2.2
"""k1 + 1 of FTS5's BM25: the most that one word can add is its IDF times this."""


@dataclass(frozen=True, slots=True)
class KeywordCandidates:
    """(drawer row id, BM25) best first; `ceiling` is the BM25 of a drawer that holds every word often.

    `frequencies` says in how many of the `total` drawers each word occurs.
    """

    ranked: list[tuple[int, float]]
    ceiling: float
    frequencies: Mapping[str, int] = field(default_factory=dict)
    total: int = 0
    near: frozenset[int] = frozenset()
    """Those of a narrower scope that were asked for besides."""
    scored: Scored | None = None
    """Where the words stand, if that is held in memory."""


def find(
    connection: Connection,
    asked: Understood,
    filters: Sequence[str],
    limit: int,
    budget: float = POSTINGS_BUDGET,
    lexicon: Lexicon | None = None,
    also: tuple[Sequence[str], int] = ((), 0),
) -> KeywordCandidates:
    """Return the best drawers by BM25 for the words and phrases asked for.

    The rarest are read first. Those past the budget bring no drawers of their own, but count in the score of
    those that the others bring ("MaxScore", Turtle and Flood 1995): a drawer is missed only when it holds none
    of the rarer words. A `lexicon` that is kept spares counting words anew for each question; `also` are narrower
    filters and how many drawers they bring besides.
    """
    if not asked.terms and not asked.phrases:
        return KeywordCandidates([], 0.0)
    lexicon = lexicon or Lexicon()
    total = lexicon.drawers(connection)
    frequencies = _frequencies(connection, lexicon, (*asked.terms, *asked.phrases))
    each = 1.0
    if sum(frequencies.values()) > budget:
        share = lexicon.drawers(connection, filters) / total if total else 1.0
        each = _PASSED_OVER + (1 - _PASSED_OVER) * share
    leading, following = (_strings(asked, chosen) for chosen in _within_budget(frequencies, each, budget))
    narrower, more = also
    scored = lexicon.postings.score(connection, leading, following, filters, narrower)
    if scored is None:
        ranked, near = _by_index(connection, leading, following, filters, limit, also)
    else:
        ranked = postings.best(scored.leading, limit)
        if scored.both is not None:
            ranked |= postings.best(scored.both, limit)
        near = {} if scored.narrower is None else postings.best(scored.leading, more, scored.narrower)
    best = dict(sorted(ranked.items(), key=lambda pair: (-pair[1], -pair[0]))[:limit])
    best |= near
    words = {term: frequencies[term] for term in asked.terms}
    ordered = sorted(best.items(), key=lambda pair: (-pair[1], -pair[0]))
    ceiling = _ceiling(list(words.values()), total)
    return KeywordCandidates(ordered, ceiling, words, total, frozenset(near), scored)


def _by_index(
    connection: Connection,
    leading: Sequence[str],
    following: Sequence[str],
    filters: Sequence[str],
    limit: int,
    also: tuple[Sequence[str], int],
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the best, and those in narrower filters, as FTS5 scores them."""
    expression = any_of(leading)
    ranked = dict(keywords.matches(connection, expression, filters, limit))
    if following:
        both = f"({expression}) AND ({any_of(following)})"
        ranked.update(keywords.matches(connection, both, filters, limit))
    narrower, more = also
    return ranked, dict(keywords.matches(connection, expression, narrower, more)) if narrower else {}


def _within_budget(frequencies: Mapping[str, int], each: float, budget: float) -> tuple[frozenset[str], frozenset[str]]:
    """Split words and phrases into those that bring drawers forward and those that follow; the rest is left out.

    `each` is what a posting costs, 1 for one in the scope. The rarest that occurs always leads.
    """
    leading: set[str] = set()
    following: set[str] = set()
    spent = 0.0
    for asked, frequency in sorted(frequencies.items(), key=lambda pair: pair[1]):
        leads = spent == 0 or spent + frequency * each <= budget
        spent += frequency * each
        if leads:
            leading.add(asked)
        elif spent <= budget * _FOLLOWING:
            following.add(asked)
    return frozenset(leading), frozenset(following)


def _strings(asked: Understood, chosen: Collection[str]) -> list[str]:
    return literals(
        [term for term in asked.terms if term in chosen], [phrase for phrase in asked.phrases if phrase in chosen]
    )


def _frequencies(connection: Connection, lexicon: Lexicon, asked: Sequence[str]) -> dict[str, int]:
    """Return in how many drawers each word occurs; of a phrase, the least of its words: it is in no more."""
    stems = keywords.stems(connection, asked)
    counted = lexicon.frequencies(connection, {stem for own in stems.values() for stem in own})
    return {text: min((counted[stem] for stem in own), default=0) for text, own in stems.items()}


def _ceiling(frequencies: Sequence[int], total: int) -> float:
    """Return the BM25 that no drawer passes: every word's IDF, saturated. Words that most drawers hold add nothing."""
    odds = ((total - held + 0.5) / (held + 0.5) for held in frequencies)
    return _BM25_SATURATION * sum(math.log(max(value, 1.0)) for value in odds)
