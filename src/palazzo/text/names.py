"""Names as people write them: on one line, and the same in another case or with other joints.

This module knows no tables: it says when two spellings are one name, and which names are near another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from heapq import nlargest

_JOINTS = re.compile(r"[\s_\-]+")
_SHORTEST_PART = 3
"""Characters from which on a part of a name is a name that somebody may mean."""
_ALIKE = 0.8
"""Share of characters two names must have in common, in order, to be near (`difflib`): one slip in five letters."""

_LONGEST_COMPARED = 80
"""Characters up to which slips are looked for: a longer name is a sentence, and comparing takes the square of it."""


def tidy(text: str) -> str:
    """Return a name on one line, without space around it."""
    return " ".join(text.split())


def fold(name: str) -> str:
    """Return what spellings of one name have in common: `Auth-Service`, `auth_service` and `auth service` are one."""
    return _JOINTS.sub(" ", name.casefold()).strip() or name


def near(name: str, names: Iterable[str], limit: int = 8) -> list[str]:
    """Return the names (all folded) that somebody may mean who says `name`, the nearest first.

    Near is what begins or ends with it at the edge of a word, or differs from it by a slip or two.
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
