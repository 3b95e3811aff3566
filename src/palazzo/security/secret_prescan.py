"""Which of many texts may hold a secret or a private span: one pass over all of them together.

Nearly all rows of a transcript hold nothing. Looked through one by one, most of the time goes into beginning;
together they cost what one long text costs. Says too much rather than too little: who looks at a suspect by
itself may find nothing, but finds nothing in a text that is no suspect.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from palazzo.security.private_spans import PRIVATE_TAG, private_tags
from palazzo.security.secret_scanner import find_spans

_SEPARATOR = b"\n" * 32
"""Stands between two texts: more than any rule skips to what comes before a secret, and so much that in the 40
characters that some look back, no other secret has room before it."""


def suspects(texts: Sequence[bytes]) -> set[int]:
    """Return the numbers of those texts (UTF-8, or any bytes) that want a look of their own."""
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
