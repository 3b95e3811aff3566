"""A plain FTS5 table in memory: keyword search without any Palazzo extension, as a baseline for benchmarks."""

from __future__ import annotations

import re
from collections.abc import Sequence

import apsw

from palazzo.text.stopwords import STOP_WORDS

_WORD = re.compile(r"\w+")


class PlainIndex:
    """One row per text, `porter unicode61`; a query's words except stop words are joined by OR; FTS5's own BM25."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._connection = apsw.Connection(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE f USING fts5(x, tokenize='porter unicode61')")
        rows = ((n, text.encode("utf-8", "replace").decode()) for n, text in enumerate(texts, 1))
        self._connection.executemany("INSERT INTO f(rowid, x) VALUES(?, ?)", rows)

    def rank(self, question: str, limit: int) -> list[int]:
        """Return the numbers of the best texts, best first."""
        words = _WORD.findall(question.lower())
        terms = [word for word in words if word not in STOP_WORDS] or words
        if not terms:
            return []
        expression = " OR ".join(f'"{word}"' for word in dict.fromkeys(terms))
        rows = self._connection.execute(
            "SELECT rowid FROM f WHERE f MATCH ? ORDER BY bm25(f) LIMIT ?", (expression, limit)
        )
        return [int(row) - 1 for (row,) in rows]

    def close(self) -> None:
        """Close the index."""
        self._connection.close()
