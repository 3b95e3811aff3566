"""Counts of live drawers by hour, kind and trust, their words, and the archived bytes: kept by the change log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from palazzo.features.viewer.kept_figures import KeptFigures
from palazzo.store import drawer_groups, size_samples
from palazzo.store.drawer_counts import AGES, DAY
from palazzo.store.drawer_groups import DrawerGroup
from palazzo.store.session_overview import HOUR

if TYPE_CHECKING:
    from palazzo.model import Micros
    from palazzo.store.change_log import Change
    from palazzo.store.database import Connection

Key = TypeVar("Key")
_MOST_SOURCES = 500
"""The most sources that are counted one by one after a change."""


Groups = tuple[tuple[DrawerGroup, int], ...]
"""The groups of a source with their numbers of drawers."""


class DrawerTotals(NamedTuple):
    """Numbers of live drawers: by the hour since 1970 in which they were said (0 if unknown), by kind, by trust."""

    hours: Counter[int]
    exchange_hours: Counter[int]
    kinds: Counter[str]
    trusts: Counter[str]

    def copy(self) -> DrawerTotals:
        """Return totals that can be changed."""
        hours, exchange_hours, kinds, trusts = self
        return DrawerTotals(hours.copy(), exchange_hours.copy(), kinds.copy(), trusts.copy())

    def add(self, groups: Groups, sign: int) -> None:
        """Add the drawers of groups, or with a `sign` of -1 take them away. What is left of none is removed."""
        for group, count in groups:
            _add(self.hours, group.hour, sign * count)
            _add(self.kinds, group.kind, sign * count)
            _add(self.trusts, group.trust, sign * count)
            if group.is_session and group.hour > 0:
                _add(self.exchange_hours, group.hour, sign * count)


def _add(counts: Counter[Key], key: Key, count: int) -> None:
    counts[key] += count
    if not counts[key]:
        del counts[key]


class DrawerFigures:
    """The live drawers of each source in groups, and the totals; never changed."""

    def __init__(self, by_source: dict[int, Groups], totals: DrawerTotals) -> None:
        self._by_source, self._totals = by_source, totals

    @cached_property
    def drawers(self) -> int:
        """The number of live drawers."""
        return self._totals.kinds.total()

    @cached_property
    def by_kind(self) -> dict[str, int]:
        """The live drawers of each kind, the most frequent first."""
        return _sort(self._totals.kinds)

    @cached_property
    def by_trust(self) -> dict[str, int]:
        """The live drawers of each level of trust, the most frequent first."""
        return _sort(self._totals.trusts)

    def by_age(self, now: Micros) -> dict[str, int]:
        """Return the live drawers of the last day, else of the last week, …, by the hour in which they were said."""
        limits = [(name, (now - days * DAY) // HOUR) for name, days in AGES.items()]
        ages = dict.fromkeys((*AGES, "older"), 0)
        for hour, count in self._totals.hours.items():
            ages[next((name for name, limit in limits if hour > limit), "older")] += count
        return ages

    @property
    def by_hour(self) -> Mapping[int, int]:
        """The live drawers by the hour since 1970 in which they were said; 0 if that is not known."""
        return self._totals.hours

    @property
    def exchanges_by_hour(self) -> Mapping[int, int]:
        """The live drawers of sessions by hour, if that is known."""
        return self._totals.exchange_hours

    def update(self, connection: Connection, changes: Sequence[Change]) -> DrawerFigures | None:
        """Return the figures after changes; None if they are to be computed again."""
        changed = drawer_groups.find_changed_sources(connection, changes)
        if not changed:
            return self
        if len(changed) > _MOST_SOURCES:
            return None
        by_source, totals = dict(self._by_source), self._totals.copy()
        for source in changed:
            totals.add(by_source.pop(source, ()), -1)
        new = drawer_groups.count_by_source(connection, changed)
        for groups in new.values():
            totals.add(groups, 1)
        return DrawerFigures(by_source | new, totals)


def _sort(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _count_drawers(connection: Connection) -> DrawerFigures:
    by_source = drawer_groups.count_by_source(connection)
    totals = DrawerTotals(Counter(), Counter(), Counter(), Counter())
    for groups in by_source.values():
        totals.add(groups, 1)
    return DrawerFigures(by_source, totals)


Words = dict[int, tuple[tuple[int, int], ...]]
"""The words of live drawers by source: the hours since 1970 in which they were said, with their words."""


def sum_by_hour(counts: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return the sums of counts that each have their hour."""
    by_hour: Counter[int] = Counter()
    for hour, count in counts:
        by_hour[hour] += count
    return by_hour


def _update_words(connection: Connection, words: Words, changes: Sequence[Change]) -> Words | None:
    changed = drawer_groups.find_changed_sources(connection, changes)
    if len(changed) > _MOST_SOURCES:
        return None
    if not changed:
        return words
    kept = {source: own for source, own in words.items() if source not in changed}
    return kept | drawer_groups.words_by_source(connection, changed)


class ArchivedBytes(NamedTuple):
    """The bytes of archived text, as they are stored, by the hour in which they were archived; and the last item."""

    by_hour: dict[int, int]
    last_item: int


def _measure_archive(connection: Connection) -> ArchivedBytes:
    return ArchivedBytes(*size_samples.archived_by_hour(connection, 0))


def _update_archive(connection: Connection, archived: ArchivedBytes, changes: Sequence[Change]) -> ArchivedBytes:
    by_hour, last_item = size_samples.archived_by_hour(connection, archived.last_item)
    if not by_hour:
        return archived
    return ArchivedBytes(dict(sorted((Counter(archived.by_hour) + Counter(by_hour)).items())), last_item)


DRAWER_FIGURES = KeptFigures(_count_drawers, lambda connection, figures, changes: figures.update(connection, changes))
WORDS = KeptFigures(drawer_groups.words_by_source, _update_words)
ARCHIVED_BYTES = KeptFigures(_measure_archive, _update_archive)
