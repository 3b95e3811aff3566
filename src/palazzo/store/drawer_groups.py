"""Live drawers in groups, source by source: what figures of a whole palace are sums of.

A change of some drawers changes the groups of their sources alone, so figures can be kept without looking at every
drawer again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import NamedTuple

from palazzo.store.change_log import Change
from palazzo.store.database import Connection
from palazzo.store.session_overview import HOUR, count_words_of_records


class DrawerGroup(NamedTuple):
    """What the drawers of a group have in common: the hour since 1970 in which they were said, and kind and trust."""

    is_session: bool
    hour: int
    kind: str
    trust: str


def count_by_source(
    connection: Connection, sources: Collection[int] | None = None
) -> dict[int, tuple[tuple[DrawerGroup, int], ...]]:
    """Return, by source (None: all), its groups with their numbers of live drawers; sources without any are absent."""
    among, values = _among(sources)
    rows = connection.execute(
        f"SELECT d.source, s.session_id <> '', d.created_at / {HOUR}, d.kind, d.trust, count(*) FROM drawer d"
        f" JOIN source s ON s.id = d.source WHERE d.retired_at IS NULL{among} GROUP BY 1, 3, 4, 5",
        values,
    )
    groups: dict[int, list[tuple[DrawerGroup, int]]] = {}
    for source, is_session, hour, kind, trust, count in rows:
        group = DrawerGroup(bool(is_session), int(hour), str(kind), str(trust))
        groups.setdefault(int(source), []).append((group, int(count)))
    return {source: tuple(own) for source, own in groups.items()}


def words_by_source(
    connection: Connection, sources: Collection[int] | None = None
) -> dict[int, tuple[tuple[int, int], ...]]:
    """Return, by source (None: all), the hours since 1970 with the words of the live drawers that were said then.

    Words are counted by the keyword index.
    """
    among, values = _among(sources)
    rows = connection.execute(
        f"SELECT d.source, d.created_at / {HOUR}, group_concat(hex(size.sz)) FROM drawer d"
        f" JOIN keyword_docsize size ON size.id = d.id WHERE d.retired_at IS NULL{among} GROUP BY 1, 2",
        values,
    )
    words: dict[int, list[tuple[int, int]]] = {}
    for source, hour, records in rows:
        words.setdefault(int(source), []).append((int(hour), count_words_of_records(str(records))))
    return {source: tuple(own) for source, own in words.items()}


def _among(sources: Collection[int] | None) -> tuple[str, tuple[str, ...]]:
    """Return a condition for these sources, and its parameters."""
    if sources is None:
        return "", ()
    return " AND d.source IN (SELECT value FROM json_each(?))", (json.dumps([*sources]),)


def find_changed_sources(connection: Connection, changes: Iterable[Change]) -> set[int]:
    """Return the sources of which items or drawers, or themselves, are named by changes of the log."""
    refs: dict[str, set[int]] = {"item": set(), "drawer": set(), "source": set()}
    for change in changes:
        table = change.kind.rstrip("+-~")
        if table in refs:
            refs[table].add(change.ref)
    rows = connection.execute(
        "SELECT source FROM item WHERE id IN (SELECT value FROM json_each(?))"
        " UNION SELECT source FROM drawer WHERE id IN (SELECT value FROM json_each(?))"
        " UNION SELECT value FROM json_each(?)",
        tuple(json.dumps([*refs[table]]) for table in ("item", "drawer", "source")),
    )
    return {int(source) for (source,) in rows}
