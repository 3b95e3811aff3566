"""Prescan for secrets and private spans: one pass over many texts together, which selects the suspects.

Nearly all rows of a transcript contain no secret. When rows are scanned one by one, most of the time is startup cost;
together they cost as much as one long text. The prescan may report false positives but no false negatives: a full scan
of a suspect may find nothing, and a full scan of any other text finds nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from palazzo.security.private_spans import PRIVATE_TAG, private_tags
from palazzo.security.secret_scanner import find_spans

_SEPARATOR = b"\n" * 32
"""Separator between two texts: longer than any rule skips to the text before a secret, and so long that within the 40
characters before a secret that some rules examine, there is no space for another secret.
"""


def suspects(texts: Sequence[bytes]) -> set[int]:
    """Return the indices of the texts (UTF-8, or any bytes) that need a closer check."""
    blob = _SEPARATOR.join(texts)
    text = blob.decode("utf-8", "surrogateescape")
    hits = list(_hits(text, blob if blob.isascii() else text.encode("ascii", "replace")))
    if not hits:
        return set()
    sizes = (len(raw_text.decode("utf-8", "surrogateescape")) + len(_SEPARATOR) for raw_text in texts)
    starts = list(accumulate(sizes, initial=0))
    return {n for start, end in hits for n in range(_at(starts, start), _at(starts, end - 1) + 1)}


def _hits(text: str, plain: bytes) -> Iterator[tuple[int, int]]:
    lowercase_bytes = plain.lower()
    for start, end, _ in find_spans(text, plain, lowercase_bytes):
        yield start, end
    if PRIVATE_TAG in lowercase_bytes:
        for tag in private_tags(text):
            yield tag.span()


def _at(starts: Sequence[int], position: int) -> int:
    return bisect_right(starts, position) - 1
