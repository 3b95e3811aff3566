"""Counts of the drawers that contain a word or are in a scope; a count is kept while its error is at most one per cent.

FTS5 counts by reading its whole posting list of a word: 25 ms for the words of one question among a million drawers. A
change to the palace alters each count by at most one, so the error of a count is at most the number of changes since
then. Rare words are therefore recounted after almost every change, which takes almost no time, and common words seldom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from palazzo.index.posting_lists import Postings
from palazzo.store import change_log, keyword_table
from palazzo.store.database import Connection

COUNT_TOLERANCE = 0.01
"""The tolerated relative error of a count. It changes a word's IDF by at most 0.01."""
_MOST_HELD = 50_000
"""The most words whose counts are held: some 8 MB."""


class Lexicon:
    """Cached counts of one palace's keyword index. Safe to share between threads."""

    def __init__(self) -> None:
        self.postings = Postings()
        self._counts: dict[str, tuple[int, int]] = {}
        """The counts, each with the change after which it was taken."""
        self._seen, self._reset = -1, 0

    def frequencies(self, connection: Connection, stems: Iterable[str]) -> dict[str, int]:
        """Return in how many drawers each stemmed word occurs."""
        at = self._follow(connection)
        return {stem: self._count(f"word {stem}", at, partial(_of_word, connection, stem)) for stem in stems}

    def drawers(self, connection: Connection, filters: Sequence[str] = ()) -> int:
        """Return how many drawers pass the filters; without filters, how many are indexed."""
        expression = " AND ".join(filters)
        at = self._follow(connection)
        return self._count(expression, at, partial(keyword_table.count_in_scope, connection, expression))

    def _count(self, key: str, at: int, count: Callable[[], int]) -> int:
        cached_count, since = self._counts.get(key, (0, -1))
        if since >= self._reset and abs(at - since) <= cached_count * COUNT_TOLERANCE:
            return cached_count
        if len(self._counts) >= _MOST_HELD:
            self._counts.clear()
        new_count = count()
        self._counts[key] = (new_count, at)
        return new_count

    def _follow(self, connection: Connection) -> int:
        """Return the newest change; counts from before a rebuild become invalid."""
        head = change_log.head(connection)
        if head != self._seen:
            if self._seen >= 0 and change_log.since(connection, self._seen, ("reset",), 1):
                self._reset = head
            self._seen = head
        return head


def _of_word(connection: Connection, stem: str) -> int:
    return keyword_table.document_frequencies(connection, [stem]).get(stem, 0)
