"""Names as people write them: normalised to one line, and compared regardless of case and separators.

This module knows no tables: it says when two spellings are one name, and which names are similar to another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from heapq import nlargest

_JOINTS = re.compile(r"[\s_\-]+")
_SHORTEST_PART = 3
"""The least characters of a part of a name that may be used as a name."""
_ALIKE = 0.8
"""The share of characters that two names must have in common, in order, to be similar (`difflib`): one typo in five
letters.
"""

_LONGEST_COMPARED = 80
"""The most characters of names that are compared for typos: a longer name is a sentence, and the cost of comparing is
quadratic.
"""


def tidy(text: str) -> str:
    """Return a name on one line, without surrounding space."""
    return " ".join(text.split())


def fold(name: str) -> str:
    """Return the common form of a name's spellings: `Auth-Service`, `auth_service` and `auth service` are one."""
    return _JOINTS.sub(" ", name.casefold()).strip() or name


def near(name: str, names: Iterable[str], limit: int = 8) -> list[str]:
    """Return the names (all folded) that a person may mean by `name`, the nearest first.

    A name is near if it begins or ends with it at a word boundary, or differs from it by one or two typing errors.
    """
    ranking = [(score, candidate) for candidate in set(names) if (score := _nearness(name, candidate)) > 0]
    return [candidate for _, candidate in nlargest(limit, ranking, key=lambda pair: (pair[0], pair[1]))]


def _nearness(name: str, candidate: str) -> float:
    shorter, longer = sorted((name, candidate), key=len)
    if len(shorter) >= _SHORTEST_PART and f" {shorter} " in f" {longer} ":
        return 1.0
    if len(longer) > _LONGEST_COMPARED:
        return 0.0
    if len(shorter) < _ALIKE / (2 - _ALIKE) * len(longer):  # they cannot have enough in common
        return 0.0
    matcher = SequenceMatcher(None, name, candidate, autojunk=False)
    if matcher.quick_ratio() < _ALIKE:
        return 0.0
    ratio = matcher.ratio()
    return ratio if ratio >= _ALIKE else 0.0
