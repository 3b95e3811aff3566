"""The keyword index of former drawer states: an FTS5 table like `keyword`, one row for each former state.

A row's id is that of its state in `past`. On a snapshot as of a day (`store/drawer_history`) both indexes answer
together: `keyword` for current states that already held then, this one for the rest.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence

from palazzo.store import drawer_history, keyword_columns, keyword_postings
from palazzo.store.database import Connection

_PHRASE_PATTERN = re.compile(r'"((?:[^"]|"")*)"(\*?)')
_K1, _B = 1.2, 0.75
"""As in FTS5's own BM25."""
_LEAST_IDF = 1e-6
_SAMPLE = 2000
"""The number of drawers from which the average length is estimated."""
_RESCORE_LIMIT = 60
"""The number of best past drawers that are scored from their texts, at a quarter of a millisecond each; those further
down keep their order below them. Thirty candidates are examined closely.
"""


def index(connection: Connection, rows: Iterable[tuple[int, str, str, str]]) -> None:
    """Index states, each (row id in `past`, body, context, scope)."""
    connection.executemany("INSERT OR REPLACE INTO keyword_retired(rowid, body, context, scope) VALUES(?,?,?,?)", rows)


def remove(connection: Connection, states: Iterable[int]) -> None:
    """Remove states from the index."""
    connection.executemany("DELETE FROM keyword_retired WHERE rowid = ?", ((state,) for state in states))


def indexed_rows(connection: Connection) -> int:
    """Return the number of indexed states."""
    return int(next(connection.execute("SELECT count(*) FROM keyword_retired_docsize"))[0])


def strays(connection: Connection) -> list[int]:
    """Return the indexed rows that are not ended states."""
    rows = connection.execute(
        "SELECT id FROM keyword_retired_docsize WHERE id NOT IN (SELECT id FROM past WHERE until IS NOT NULL)"
    )
    return [int(row) for (row,) in rows]


def purge(connection: Connection) -> None:
    """Merge the index into one segment: until then it contains words of removed rows, though no query finds them."""
    connection.execute("INSERT INTO keyword_retired(keyword_retired) VALUES('optimize')")


def clear(connection: Connection) -> None:
    """Empty the index."""
    connection.execute("INSERT INTO keyword_retired(keyword_retired) VALUES('delete-all')")


# --- asked as of a day -------------------------------------------------------------------------------------


def matches(connection: Connection, match: str, words: str, weights: str, limit: int) -> list[tuple[int, float]]:
    """Return (drawer row id, BM25) of the best drawers as of the snapshot's day, best first.

    `match` is a whole MATCH expression, `words` its part that searches for words, `weights` are those of the columns.
    Scores of a small index are not comparable with those of a large one, and words may have been said later: therefore
    results from the index of the past, and drawers that the snapshot shows in part, are scored from their text, with
    the frequencies of both.
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
    """Return the drawers live on the snapshot's day that match scope filters, ascending."""
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
    """Return the number of ended states in which a stemmed word occurs."""
    rows = connection.execute("SELECT doc FROM keyword_retired_vocabulary WHERE term = ?", (stem,))
    return sum(int(count) for (count,) in rows)


def _compute_scores(connection: Connection, words: str, drawers: Iterable[int]) -> dict[int, float]:
    phrase_matches = _PHRASE_PATTERN.findall(words)
    phrases = {(tuple(connection.stems(text.replace('""', '"'))), bool(star)) for text, star in phrase_matches}
    total = keyword_postings.live_rows(connection) + indexed_rows(connection)
    stems_of_phrases = {stem for phrase, _ in phrases for stem in phrase}
    frequencies = {
        stem: keyword_postings.live_document_frequency(connection, stem) + document_frequency(connection, stem)
        for stem in stems_of_phrases
    }
    weights = {
        (phrase, is_beginning): _idf(total, min(frequencies.get(stem, 0) for stem in phrase))
        for phrase, is_beginning in phrases
        if phrase
    }
    usual = next(connection.execute(f"SELECT avg(size) FROM (SELECT size FROM main.drawer LIMIT {_SAMPLE})"))[0] or 1.0
    scores = {}
    for drawer in drawers:
        body, context = keyword_columns.columns_of(connection, drawer)
        stems = connection.stems(f"{body}\n{context}")
        ratio = len(body) / usual
        counts = ((weight, _count(stems, *phrase)) for phrase, weight in weights.items())
        scores[drawer] = sum(idf * n * (_K1 + 1) / (n + _K1 * (1 - _B + _B * ratio)) for idf, n in counts if n)
    return scores


def _below(over: Sequence[tuple[int, float]], exact_scores: Mapping[int, float]) -> dict[int, float]:
    """Return scores for the drawers that were not rescored: their own, scaled by the lowest of the rescored ones."""
    rest = over[_RESCORE_LIMIT:]
    if not rest:
        return {}
    least = max(min(exact_scores[drawer] for drawer, _ in over[:_RESCORE_LIMIT]), _LEAST_IDF)
    return {drawer: least * score / over[_RESCORE_LIMIT - 1][1] for drawer, score in rest}


def _idf(total: int, frequency: int) -> float:
    return max(math.log((total - frequency + 0.5) / (frequency + 0.5)), _LEAST_IDF)


def _count(stems: Sequence[str], phrase: tuple[str, ...], is_beginning: bool) -> int:
    """Count how often a phrase occurs in a text; with `is_beginning`, its last word is a prefix."""
    if len(phrase) == 1 and not is_beginning:
        return stems.count(phrase[0])
    *first, last = phrase
    ends = (at for at, stem in enumerate(stems) if (stem.startswith(last) if is_beginning else stem == last))
    return sum(list(stems[max(at - len(first), 0) : at]) == first for at in ends)
