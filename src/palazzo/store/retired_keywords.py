"""The words of drawers as they stood before: an FTS5 table like `keyword`, one row for each state that is over.

A row's id is that of its state in `past`. On a snapshot as of a day (`store/past.py`) both indexes answer together:
`keyword` for what stands today as it stood then, this one for the rest.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence

from palazzo.store import drawer_history
from palazzo.store.database import Connection

_PHRASE_PATTERN = re.compile(r'"((?:[^"]|"")*)"(\*?)')
_K1, _B = 1.2, 0.75
"""As FTS5's own BM25 has them."""
_LEAST_IDF = 1e-6
_SAMPLE = 2000
"""Drawers that the usual length is told from."""
_RESCORE_LIMIT = 60
"""The best of the past that are scored from their texts, at a quarter of a millisecond each; those further down keep
their order below them. Thirty candidates are looked at closely."""


def index(connection: Connection, rows: Iterable[tuple[int, str, str, str]]) -> None:
    """Index states, each (row id in `past`, body, context, scope)."""
    connection.executemany("INSERT OR REPLACE INTO keyword_retired(rowid, body, context, scope) VALUES(?,?,?,?)", rows)


def remove(connection: Connection, states: Iterable[int]) -> None:
    """Take states out of the index."""
    connection.executemany("DELETE FROM keyword_retired WHERE rowid = ?", ((state,) for state in states))


def indexed_rows(connection: Connection) -> int:
    """Return how many states are indexed."""
    return int(next(connection.execute("SELECT count(*) FROM keyword_retired_docsize"))[0])


def strays(connection: Connection) -> list[int]:
    """Return the indexed rows that are no state which is over."""
    rows = connection.execute(
        "SELECT id FROM keyword_retired_docsize WHERE id NOT IN (SELECT id FROM past WHERE until IS NOT NULL)"
    )
    return [int(row) for (row,) in rows]


def purge(connection: Connection) -> None:
    """Merge the index into one piece: until then words of removed rows stay in it, though nothing finds them."""
    connection.execute("INSERT INTO keyword_retired(keyword_retired) VALUES('optimize')")


def clear(connection: Connection) -> None:
    """Empty the index."""
    connection.execute("INSERT INTO keyword_retired(keyword_retired) VALUES('delete-all')")


# --- asked as of a day -------------------------------------------------------------------------------------


def matches(connection: Connection, match: str, words: str, weights: str, limit: int) -> list[tuple[int, float]]:
    """Return (drawer row id, BM25) of the best drawers as of the snapshot's day, best first.

    `match` is a whole MATCH expression, `words` what of it asks for words, `weights` are those of the columns. Scores
    of a small index mean little beside those of a large one, and words may have been said later: so what comes from
    the index of the past, and what the snapshot shows in part, is scored from its text, by the frequencies of both.
    """
    live = connection.execute(
        f"SELECT keyword.rowid, bm25(keyword, {weights}) AS score FROM keyword CROSS JOIN drawer"
        " ON drawer.id = keyword.rowid WHERE keyword MATCH ? AND drawer.retired_at IS NULL"
        " AND drawer.id NOT IN (SELECT drawer FROM temp.state_then) ORDER BY score LIMIT ?",
        (match, limit),
    )
    scores = {int(row): -float(score) for row, score in live}
    retired_rows = connection.execute(
        f"SELECT drawer, bm25(keyword_retired, {weights}) AS score FROM keyword_retired CROSS JOIN temp.state_then"
        " ON past = keyword_retired.rowid WHERE keyword_retired MATCH ? ORDER BY score LIMIT ?",
        (match, limit),
    )
    over = [(int(drawer), -float(score)) for drawer, score in retired_rows]
    inexact = drawer_history.left_out(connection, list(scores)).keys() | {drawer for drawer, _ in over[:_RESCORE_LIMIT]}
    exact_scores = _compute_scores(connection, words, inexact) if inexact else {}
    scores = {row: score for row, score in (scores | exact_scores | _below(over, exact_scores)).items() if score > 0}
    return sorted(scores.items(), key=lambda pair: (-pair[1], -pair[0]))[:limit]


def drawers_in_scope(connection: Connection, match: str) -> list[int]:
    """Return the drawers live on the snapshot's day that scope filters let through, ascending."""
    rows = connection.execute(
        "SELECT keyword.rowid FROM keyword CROSS JOIN drawer ON drawer.id = keyword.rowid WHERE keyword MATCH ?1"
        " AND drawer.retired_at IS NULL AND drawer.id NOT IN (SELECT drawer FROM temp.state_then)"
        " UNION SELECT drawer FROM keyword_retired CROSS JOIN temp.state_then ON past = keyword_retired.rowid"
        " WHERE keyword_retired MATCH ?1 ORDER BY 1",
        (match,),
    )
    return [int(row) for (row,) in rows]


def holders(connection: Connection, match: str, sources: Sequence[int]) -> list[tuple[int, int]]:
    """Return (drawer row id, source) of those sources' drawers that are live on the snapshot's day and match."""
    drawer_rows = drawers_in_scope(connection, match)
    rows = connection.execute(
        "SELECT id, source FROM drawer WHERE id IN (SELECT value FROM json_each(?1))"
        " AND source IN (SELECT value FROM json_each(?2))",
        (json.dumps(drawer_rows), json.dumps(list(sources))),
    )
    return [(int(row), int(source)) for row, source in rows]


def document_frequency(connection: Connection, stem: str) -> int:
    """Return in how many states that are over a stemmed word occurs."""
    rows = connection.execute("SELECT doc FROM keyword_retired_vocabulary WHERE term = ?", (stem,))
    return sum(int(count) for (count,) in rows)


def _compute_scores(connection: Connection, words: str, drawers: Iterable[int]) -> dict[int, float]:
    from palazzo.store import keyword_table  # which asks this module for the past

    phrase_matches = _PHRASE_PATTERN.findall(words)
    phrases = {(tuple(connection.stems(text.replace('""', '"'))), bool(star)) for text, star in phrase_matches}
    total = keyword_table.indexed_rows(connection)
    frequencies = keyword_table.document_frequencies(connection, {stem for phrase, _ in phrases for stem in phrase})
    weights = {
        (phrase, is_beginning): _idf(total, min(frequencies.get(stem, 0) for stem in phrase))
        for phrase, is_beginning in phrases
        if phrase
    }
    usual = next(connection.execute(f"SELECT avg(size) FROM (SELECT size FROM main.drawer LIMIT {_SAMPLE})"))[0] or 1.0
    scores = {}
    for drawer in drawers:
        body, context = keyword_table.columns_of(connection, drawer)
        stems = connection.stems(f"{body}\n{context}")
        ratio = len(body) / usual
        counts = ((weight, _count(stems, *phrase)) for phrase, weight in weights.items())
        scores[drawer] = sum(idf * n * (_K1 + 1) / (n + _K1 * (1 - _B + _B * ratio)) for idf, n in counts if n)
    return scores


def _below(over: Sequence[tuple[int, float]], exact_scores: Mapping[int, float]) -> dict[int, float]:
    """Return scores of those that were not scored: their own, measured by the least of those that were."""
    rest = over[_RESCORE_LIMIT:]
    if not rest:
        return {}
    least = max(min(exact_scores[drawer] for drawer, _ in over[:_RESCORE_LIMIT]), _LEAST_IDF)
    return {drawer: least * score / over[_RESCORE_LIMIT - 1][1] for drawer, score in rest}


def _idf(total: int, frequency: int) -> float:
    return max(math.log((total - frequency + 0.5) / (frequency + 0.5)), _LEAST_IDF)


def _count(stems: Sequence[str], phrase: tuple[str, ...], is_beginning: bool) -> int:
    """How often a phrase stands in a text; `is_beginning` lets its last word go on."""
    if len(phrase) == 1 and not is_beginning:
        return stems.count(phrase[0])
    *first, last = phrase
    ends = (at for at, stem in enumerate(stems) if (stem.startswith(last) if is_beginning else stem == last))
    return sum(list(stems[max(at - len(first), 0) : at]) == first for at in ends)
