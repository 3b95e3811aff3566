"""Near-copies: how much of one text is in another, so that hits with the same content can be folded.

Texts are compared by their runs of three words ("shingles", Broder 1997), without regard to case, punctuation and white
space. The caller decides what to fold at which share.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from palazzo.text import cjk

Signature = frozenset[int]
"""Hashes of shingles. Python salts string hashes: a signature is valid in this process only, and is never stored."""

_SHINGLE = 3
_ASCII_SEPARATORS = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}
_WORDS = re.compile(rf"[{cjk.CHARACTERS}]|[^\W{cjk.CHARACTERS}]+")


def signature(text: str) -> Signature:
    """Return the signature of `text`; a text of one or two words has one shingle, one without words has none."""
    words = _split_words(text) or text.split()
    if len(words) < _SHINGLE:
        return frozenset([hash(tuple(words))] if words else [])
    return frozenset(map(hash, zip(*(words[first:] for first in range(_SHINGLE)), strict=False)))


def _split_words(text: str) -> list[str]:
    if text.isascii():  # as `_WORDS` splits it, in a fifth of the time
        return text.lower().translate(_ASCII_SEPARATORS).split()
    return _WORDS.findall(text.casefold())


def containment(a: Signature, b: Signature) -> float:
    """Return the share of `a` that is also in `b`, from 0.0 to 1.0; 0.0 if `a` is empty.

    It is not symmetric: a quotation is contained in its source, but not the other way round.
    """
    return len(a & b) / len(a) if a else 0.0


def likeness(a: Signature, b: Signature) -> float:
    """Return the smaller of the two shares that the texts have in common: 1.0 only if both say the same."""
    common = len(a & b)
    return common / max(len(a), len(b)) if common else 0.0


def copies(signatures: Mapping[int, Signature], threshold: float) -> dict[int, dict[int, float]]:
    """Return, by text, the later texts that are its copies, with their likeness; texts without copies are left out.

    The order is that of the input. A text is a copy of the most similar text that is not a copy itself, so every copy
    has at least the likeness `threshold` to its original. Only texts that share one of their rarest shingles are
    compared, as two texts so similar must (prefix filtering, Bayardo 2007).
    """
    rarity = Counter(shingle for signature in signatures.values() for shingle in signature)
    originals: defaultdict[int, list[int]] = defaultdict(list)
    copies_by_text: dict[int, dict[int, float]] = {}
    for key, own in signatures.items():
        rarest = sorted(own, key=lambda shingle: (rarity[shingle], shingle))
        prefix = rarest[: len(own) - math.ceil(threshold * len(own)) + 1]
        near = dict.fromkeys(original for shingle in prefix for original in originals[shingle])
        alike = {original: likeness(own, signatures[original]) for original in near}
        best = max(alike, key=lambda one: alike[one], default=None)
        if best is not None and alike[best] >= threshold:
            copies_by_text.setdefault(best, {})[key] = alike[best]
            continue
        for shingle in prefix:
            originals[shingle].append(key)
    return copies_by_text
