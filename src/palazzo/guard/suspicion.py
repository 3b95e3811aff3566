"""Which of many texts may hold a secret or a private span: one pass over all of them together.

Nearly all rows of a transcript hold nothing. Looked through one by one, most of the time goes into beginning;
together they cost what one long text costs. Says too much rather than too little: who looks at a suspect by
itself may find nothing, but finds nothing in a text that is no suspect.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from palazzo.guard.private import PRIVATE_TAG, private_tags
from palazzo.guard.secrets import find_spans

_APART = "\n" * 128
"""Stands between two texts. No rule looks further back than this, so that none takes one text's end for the
beginning of what it found in the next."""


def suspects(texts: Sequence[str]) -> set[int]:
    """Return the numbers of those texts that want a look of their own."""
    joined = _APART.join(texts)
    starts = list(accumulate((len(text) + len(_APART) for text in texts), initial=0))
    return {n for span in _hits(joined) for n in _touched(starts, *span)}


def _hits(joined: str) -> Iterator[tuple[int, int]]:
    plain = joined.encode("ascii", "replace")
    lowered = plain.lower()
    for start, end, _ in find_spans(joined, plain, lowered):
        yield start, end
    if PRIVATE_TAG in lowered:
        for tag in private_tags(joined):
            yield tag.span()


def _touched(starts: Sequence[int], start: int, end: int) -> Iterable[int]:
    return range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1))
