"""Pairs of names that drawers of one wing mention together.

They are computed from the mentions when they are requested; nothing stores them, so nothing has to be rebuilt.
"""

from __future__ import annotations

import hashlib
from itertools import combinations
from typing import NamedTuple

from palazzo.model import Micros
from palazzo.store import mention_rows
from palazzo.store.database import Connection

_KINDS = ("identifier", "package", "file", "person", "product")
_FEWEST = 2
"""Minimum number of drawers that mention both names: one drawer may mention any two names by chance."""
_MOST_MENTIONS = 100_000
"""Maximum number of mentions that are read, newest first: with at most `_MOST_NAMES` of a drawer, these are at most
950,000 pairs.
"""
_MOST_NAMES = 20
"""Maximum number of names of one drawer that are paired: a longer list names too much to say that two belong together.
"""
_ID_LENGTH = 16


class NamePair(NamedTuple):
    """Two names, as (kind, folded name): the drawers of the wing that mention both, their rooms, and the newest."""

    uid: str
    wing: str
    names: tuple[tuple[str, str], tuple[str, str]]
    drawers: int
    rooms: tuple[str, ...]
    newest: Micros


def find_name_pairs(connection: Connection, wing: str | None) -> list[NamePair]:
    """Return the pairs in a wing (None: in each wing), those that most drawers mention first."""
    drawers_by_pair: dict[tuple[str, tuple[str, str], tuple[str, str]], list[mention_rows.DrawerNames]] = {}
    for drawer in mention_rows.names_by_drawer(connection, wing, _KINDS, _MOST_MENTIONS):
        for first, second in combinations(sorted(drawer.names[:_MOST_NAMES], key=_by_name), 2):
            if first[1] != second[1]:
                drawers_by_pair.setdefault((drawer.place.wing, first, second), []).append(drawer)
    pairs = [
        _pair(pair_wing, (first, second), drawers)
        for (pair_wing, first, second), drawers in drawers_by_pair.items()
        if len(drawers) >= _FEWEST
    ]
    return sorted(pairs, key=lambda pair: (-pair.drawers, pair.wing, [name for _, name in pair.names]))


def _pair(
    wing: str, names: tuple[tuple[str, str], tuple[str, str]], drawers: list[mention_rows.DrawerNames]
) -> NamePair:
    rooms = tuple(sorted({drawer.place.room for drawer in drawers}))
    key = "\0".join((wing, *(part for name in names for part in name)))
    uid = hashlib.sha256(key.encode()).hexdigest()[:_ID_LENGTH]
    return NamePair(uid, wing, names, len(drawers), rooms, max(drawer.created_at for drawer in drawers))


def _by_name(name: tuple[str, str]) -> tuple[str, str]:
    return name[1], name[0]
