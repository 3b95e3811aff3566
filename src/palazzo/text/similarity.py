"""Near-copies: how much of one text is in another, so that hits that say the same can be folded.

Texts are compared by their runs of three words ("shingles", Broder 1997), without regard to case,
punctuation and white space. What to fold at which share is for the caller.
"""

from __future__ import annotations

import re

from palazzo.text import cjk

Signature = frozenset[int]
"""Hashes of shingles. Python salts string hashes: a signature is for this process and is never stored."""

_SHINGLE = 3
_WORDS = re.compile(rf"[{cjk.CHARACTERS}]|[^\W{cjk.CHARACTERS}]+")


def signature(text: str) -> Signature:
    """Return the signature of `text`; a text of one or two words is one shingle, one of none has none."""
    words = _WORDS.findall(text.casefold()) or text.split()
    if len(words) < _SHINGLE:
        return frozenset([hash(tuple(words))] if words else [])
    return frozenset(map(hash, zip(*(words[first:] for first in range(_SHINGLE)), strict=False)))


def containment(a: Signature, b: Signature) -> float:
    """Return the share of `a` that is also in `b`, from 0.0 to 1.0; 0.0 when `a` is empty.

    It is not symmetric: a quotation is contained in its source, and not the other way round.
    """
    return len(a & b) / len(a) if a else 0.0
