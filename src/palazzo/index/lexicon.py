"""How many drawers hold a word, or stand in a scope: counted once, and held while that is right to a hundredth.

FTS5 counts by reading all that it has of a word: 25 ms for the words of one question among a million drawers. A change
to the palace alters each count by one at most, so a count is off by no more than there were changes since. Rare words
are thereby counted anew at almost every change, which takes no time, and common ones seldom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from palazzo.index.posting_lists import Postings
from palazzo.store import change_log, keyword_table
from palazzo.store.database import Connection

COUNT_TOLERANCE = 0.01
"""Share of a count that it may be off by. It moves a word's worth (IDF) by 0.01 at most."""
_MOST_HELD = 50_000
"""Words whose counts are held: some 8 MB."""


class Lexicon:
    """Counts of one palace's keyword index. Safe to share between threads."""

    def __init__(self) -> None:
        self.postings = Postings()
        self._counts: dict[str, tuple[int, int]] = {}
        """What was counted: how many, and after which change."""
        self._seen, self._reset = -1, 0

    def frequencies(self, connection: Connection, stems: Iterable[str]) -> dict[str, int]:
        """Return in how many drawers each stemmed word occurs."""
        at = self._follow(connection)
        return {stem: self._count(f"word {stem}", at, partial(_of_word, connection, stem)) for stem in stems}

    def drawers(self, connection: Connection, filters: Sequence[str] = ()) -> int:
        """Return how many drawers the filters let through, without any how many are indexed."""
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
        """Return the newest change; what was counted before a rebuild counts no more."""
        head = change_log.head(connection)
        if head != self._seen:
            if self._seen >= 0 and change_log.since(connection, self._seen, ("reset",), 1):
                self._reset = head
            self._seen = head
        return head


def _of_word(connection: Connection, stem: str) -> int:
    return keyword_table.document_frequencies(connection, [stem]).get(stem, 0)
