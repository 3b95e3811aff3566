"""Postings: which drawers contain a word, how often, and the drawers' lengths, cached in memory after the first read.

FTS5 finds the drawers of a word in a tenth of a microsecond each, and takes five times as long to score one, mostly to
look up its length. So this module caches the lengths (and the sources) of all drawers, and the drawers and counts of
the most recent query words. It computes BM25 with FTS5's formula and in FTS5's order: the scores are equal to the last
bit.

The cache follows the change log. When a word is next requested, its postings are read again from the lowest changed
drawer on: new drawers have the highest row ids.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palazzo.store import change_log, keyword_columns, keyword_table
from palazzo.store import keyword_postings as table
from palazzo.store.change_log import ChangeKind
from palazzo.store.database import Connection

CHANGE_KINDS: tuple[ChangeKind, ...] = ("drawer+", "drawer-", "drawer~", "reset", "erased")
_FORGET_FROM = 20_000
"""The number of changes above which the whole cache is dropped."""
_MOST_HELD = 3_000_000
"""The most drawers held, summed over all words: 24 MB."""
_MOST_STRETCHES = 1_000
_K1, _B, _LEAST_IDF = 1.2, 0.75, 1e-6
"""As in FTS5's own BM25 (`fts5_aux.c`)."""
_COLUMNS = 3
_Rows = NDArray[np.int32]
_Numbers = NDArray[np.int64]
RowNumbers = NDArray[np.int32] | NDArray[np.int64]
Scores = NDArray[np.float64]
"""Scores by row id; 0 for drawers that contain no query word."""
_Part = tuple[_Rows, Scores]
"""Drawers that match, and what that adds to the score of each."""


class Word(NamedTuple):
    """The drawers that contain a word, ascending, how often each does, and the change after which this was read."""

    rows: _Rows
    counts: _Rows
    at: int


class ScoreTable(NamedTuple):
    """The result of scoring a query: the scores of the leading words alone, and with the following words added.

    `narrower` says by row id which drawers are in a narrower scope, `rows` holds the places of each word, and `sources`
    the source of each drawer by its row id.
    """

    leading: Scores
    both: Scores | None
    narrower: NDArray[np.bool_] | None
    rows: Mapping[str, _Rows]
    sources: _Rows


def best_of(score_table: ScoreTable, rows: RowNumbers, limit: int) -> dict[int, float]:
    """Return the `limit` greatest scores of these rows."""
    row_scores = best(_select_scores(score_table.leading, rows), limit)
    if score_table.both is not None:
        row_scores |= best(_select_scores(score_table.both, rows), limit)
    return dict(sorted(row_scores.items(), key=lambda pair: (-pair[1], -pair[0]))[:limit])


def drop_scores(score_table: ScoreTable, rows: RowNumbers) -> ScoreTable:
    """Return a score table in which these rows have no score; the places of the words still include them."""
    leading = score_table.leading - _select_scores(score_table.leading, rows)
    both = None if score_table.both is None else score_table.both - _select_scores(score_table.both, rows)
    return score_table._replace(leading=leading, both=both)


def _select_scores(scores: Scores, rows: RowNumbers) -> Scores:
    inside = rows[rows < len(scores)]
    selected_scores = np.zeros_like(scores)
    selected_scores[inside] = scores[inside]
    return selected_scores


class Postings:
    """The cached part of one palace's keyword index. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seq = -1
        self._forget()

    def score(
        self,
        connection: Connection,
        leading: Sequence[str],
        secondary_terms: Sequence[str],
        filters: Sequence[str],
        narrower: Sequence[str],
    ) -> ScoreTable | None:
        """Return the BM25 of every drawer in the scope that contains one of the leading strings.

        `leading` and `secondary_terms` are strings of FTS5's query language (`text.words.literals`); the following ones
        only add to a score. None if this snapshot cannot be cached, or the strings have no words.
        """
        if connection.as_of is not None:
            return None
        with self._lock:
            if not self._follow(connection):
                return None
            mask = self._mask(connection, filters)
            scorer = _QueryScorer(connection, filters, mask, self._word, self._lengths, self._drawers)
            lead = list(filter(None, map(scorer.part, leading)))
            if not lead:
                return None
            scores = np.zeros(len(self._lengths))
            for rows, values in lead:
                scores[rows] += values
            both = (
                _add_secondary_scores(scores, list(filter(None, map(scorer.part, secondary_terms))))
                if secondary_terms
                else None
            )
            return ScoreTable(scores, both, self._mask(connection, narrower), scorer.rows, self._sources)

    def rows_in_scope(self, connection: Connection, scope: str) -> RowNumbers:
        """Return the drawers that match a filter of the keyword index, ascending."""
        if connection.as_of is None:
            with self._lock:
                if self._follow(connection):
                    return self._read(f"scope {scope}", partial(table.rows_matching, connection, scope)).rows
        return np.array(keyword_table.drawers_in_scope(connection, [scope]), dtype=np.int64)

    # --- reading -------------------------------------------------------------------------------------------

    def _mask(self, connection: Connection, filters: Sequence[str]) -> NDArray[np.bool_] | None:
        if not filters:
            return None
        match = " AND ".join(filters)
        let_through = self._read(f"scope {match}", partial(table.rows_matching, connection, match))
        mask = np.zeros(len(self._lengths), dtype=bool)
        mask[let_through.rows] = True
        return mask

    def _word(self, connection: Connection, stem: str, literal: str) -> Word:
        return self._read(f"word {stem}", partial(_places, connection, stem, literal))

    def _read(self, key: str, read: Callable[[int], str]) -> Word:
        """Return a cached word, updated: it is read again from the lowest drawer that changed."""
        word = self._held.pop(key, None)
        if word is None:
            word = _word(_numbers(read(0)), self._seq)
        else:
            self._drawers_held -= len(word.rows)
            least = self._changed_since(word.at)
            if least is not None:
                prefix_length = int(np.searchsorted(word.rows, least))
                new = _word(_numbers(read(least)), self._seq)
                word = Word(
                    np.concatenate((word.rows[:prefix_length], new.rows)),
                    np.concatenate((word.counts[:prefix_length], new.counts)),
                    self._seq,
                )
        self._held[key] = word
        self._drawers_held += len(word.rows)
        while self._drawers_held > _MOST_HELD and len(self._held) > 1:
            oldest = next(iter(self._held))
            self._drawers_held -= len(self._held.pop(oldest).rows)
        return word

    # --- following the log ---------------------------------------------------------------------------------

    def _follow(self, connection: Connection) -> bool:
        """Process changes; return whether that is possible: another thread may have seen more than this one."""
        head = change_log.head(connection)
        if head <= self._seq:
            return head == self._seq
        log = [] if self._seq < 0 else change_log.since(connection, self._seq, CHANGE_KINDS, _FORGET_FROM)
        whole = self._seq < 0 or len(log) == _FORGET_FROM or any(entry.kind in ("reset", "erased") for entry in log)
        if whole or len(self._stretches) > _MOST_STRETCHES:
            self._forget()
            self._load(connection, None)
        elif log:
            least = min(change.ref for change in log)
            while self._stretches and self._stretches[-1][1] >= least:
                self._stretches.pop()
            self._stretches.append((head, least))
            self._load(connection, sorted({change.ref for change in log}))
        self._seq = head
        return True

    def _changed_since(self, at: int) -> int | None:
        """Return the lowest drawer changed after `at`. Stretches ascend in both values, so it is the first's."""
        first = bisect_right(self._stretches, at, key=lambda stretch: stretch[0])
        return self._stretches[first][1] if first < len(self._stretches) else None

    def _forget(self) -> None:
        self._seq = -1
        self._stretches: list[tuple[int, int]] = []
        """(change, the lowest drawer that had changed by then and has not changed since)."""
        self._held: dict[str, Word] = {}
        self._drawers_held = 0
        self._tokens: NDArray[np.int32] = np.zeros(1, dtype=np.int32)
        self._sources: _Rows = np.zeros(1, dtype=np.int32)
        self._lengths: Scores = np.zeros(1)
        """The length factor of BM25 for each drawer."""
        self._drawers = 0

    def _load(self, connection: Connection, drawers: list[int] | None) -> None:
        """Read the sizes and sources of these drawers, or of all."""
        rows, records = table.sizes(connection, drawers)
        self._tokens = _with(self._tokens, drawers, _numbers(rows), _tokens(records))
        rows, owners = table.sources(connection, drawers)
        self._sources = _with(self._sources, drawers, _numbers(rows), _numbers(owners))
        size = max(len(self._tokens), len(self._sources))
        self._tokens, self._sources = _longer(self._tokens, size), _longer(self._sources, size)
        self._drawers = int(np.count_nonzero(self._tokens))
        usual = int(self._tokens.sum(dtype=np.int64)) / self._drawers if self._drawers else 1.0
        self._lengths = length_factors(self._tokens, usual)


class _QueryScorer:
    """One query, evaluated string by string."""

    def __init__(
        self,
        connection: Connection,
        filters: Sequence[str],
        mask: NDArray[np.bool_] | None,
        word: Callable[[Connection, str, str], Word],
        lengths: Scores,
        drawers: int,
    ) -> None:
        self._connection, self._filters, self._mask = connection, filters, mask
        self._word, self._lengths, self._drawers = word, lengths, drawers
        self.rows: dict[str, _Rows] = {}

    def part(self, literal: str) -> _Part | None:
        """Return the drawers in the scope that match a string, and what it adds to each one's score.

        FTS5 scores anything but a single whole word; None if the string has no word.
        """
        stems = self._connection.stems(literal)
        if not stems:
            return None
        if len(stems) > 1 or literal.endswith("*") or keyword_columns.is_of_scope(stems[0]):
            matches = keyword_table.matches(self._connection, literal, self._filters, -1)
            match_rows = np.array([row for row, _ in matches], dtype=np.int32)
            if not self._filters:
                self.rows[literal] = match_rows
            return match_rows, np.array([score for _, score in matches])
        rows, counts, _ = self._word(self._connection, stems[0], literal)
        self.rows[literal] = rows
        holder_count = len(rows)
        if self._mask is not None:
            inside = self._mask[rows]
            rows, counts = rows[inside], counts[inside]
        return rows, word_scores(self._drawers, holder_count, counts, self._lengths[rows])


def best(scores: Scores, limit: int, mask: NDArray[np.bool_] | None = None) -> dict[int, float]:
    """Return the `limit` greatest scores by row ID; for equal scores, the older drawer."""
    rows = np.flatnonzero(scores if mask is None else scores * mask)
    values = scores[rows]
    if len(rows) > limit:
        least = np.partition(values, len(values) - limit)[len(values) - limit]
        above, level = values > least, np.flatnonzero(values == least)
        above[level[: limit - int(np.count_nonzero(above))]] = True
        rows, values = rows[above], values[above]
    return dict(zip(rows.tolist(), values.tolist(), strict=True))


def _add_secondary_scores(scores: Scores, parts: Sequence[_Part]) -> Scores:
    """Add these parts to the scores, only of drawers that have a score and occur in one of the parts."""
    holder_mask = np.zeros(len(scores), dtype=bool)
    for rows, _ in parts:
        holder_mask[rows] = True
    totals = np.where(holder_mask, scores, 0.0)
    positive_mask = totals > 0
    for rows, values in parts:
        row_mask = positive_mask[rows]
        totals[rows[row_mask]] += values[row_mask]
    return totals


def word_scores(drawers: int, holder_count: int, counts: NDArray[Any], factors: Scores) -> Scores:
    """Return what a word adds to the BM25 of drawers that contain it `counts` times; `factors` are their lengths'.

    It is in `holder_count` of all `drawers`.
    """
    worth = max(math.log((drawers - holder_count + 0.5) / (holder_count + 0.5)), _LEAST_IDF)
    often = counts.astype(np.float64)
    return worth * ((often * (_K1 + 1.0)) / (often + factors))


def length_factors(tokens: NDArray[Any], usual: float) -> Scores:
    """Return the length factor of BM25 for numbers of tokens; `usual` is the average number."""
    share: Scores = _B * tokens.astype(np.float64)
    return _K1 * ((1.0 - _B) + share / usual)


def _places(connection: Connection, stem: str, literal: str, least: int) -> str:
    """Return a word's places; the table of places reads the whole word, the index can start at a drawer."""
    if least and not table.rows_matching(connection, literal, least):
        return ""
    return table.places_of_word(connection, stem, least)


def _word(places: _Numbers, at: int) -> Word:
    """Return a word from the drawers of its places, in ascending order."""
    new = np.ones(len(places), dtype=bool)
    new[1:] = places[1:] != places[:-1]
    first = np.flatnonzero(new)
    counts = np.diff(first, append=len(places))
    return Word(places[first].astype(np.int32), counts.astype(np.int32), at)


def _numbers(text: str) -> _Numbers:
    numbers: _Numbers = np.fromstring(text, dtype=np.int64, sep=",") if text else np.zeros(0, dtype=np.int64)
    return numbers


def _tokens(records: str) -> _Numbers:
    """Return the total number of tokens of each size record, over all columns."""
    octets = np.frombuffer(bytes.fromhex(records.replace(",", " ")), dtype=np.uint8)
    ends = np.flatnonzero(octets < 0x80)
    begins = np.concatenate((np.zeros(1, dtype=np.int64), ends[:-1] + 1))[: len(ends)]
    values = octets[ends].astype(np.int64)
    for back in range(1, int((ends - begins).max(initial=0)) + 1):
        longer = np.flatnonzero(ends - begins >= back)
        values[longer] += (octets[ends[longer] - back] & 0x7F).astype(np.int64) << (7 * back)
    token_counts: _Numbers = values.reshape(-1, _COLUMNS).sum(axis=1)
    return token_counts


def _with(column: _Rows, drawers: list[int] | None, rows: _Numbers, values: _Numbers) -> _Rows:
    """Return a copy of the cached values with these rows' values; 0 for `drawers` without one."""
    changed = drawers or []
    new = _longer(column.copy(), max([int(rows.max(initial=0)), *changed[-1:]]) + 1)
    new[changed] = 0
    new[rows] = values
    return new


def _longer(column: _Rows, size: int) -> _Rows:
    return np.concatenate((column, np.zeros(size - len(column), dtype=np.int32))) if len(column) < size else column
