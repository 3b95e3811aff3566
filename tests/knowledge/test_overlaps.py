"""Which versions of facts are compared: those that may hold at once, however many follow each other."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from palazzo.knowledge.conflict_detection import _at_once
from palazzo.model import Micros
from palazzo.store.fact_rows import Version

ONE = Version(0, 0, "", 1, 1, "lives_in", 2, None, None, None, 1.0, None, Micros(1), None)
MOMENTS = st.one_of(st.none(), st.integers(0, 9))


def between(row: int, start: int | None, end: int | None) -> Version:
    """A version that held between two moments."""
    return replace(
        ONE,
        row=row,
        valid_from=None if start is None else Micros(start),
        valid_to=None if end is None else Micros(end),
    )


@given(st.lists(st.tuples(MOMENTS, MOMENTS), max_size=12))
def test_all_that_overlap_are_compared(spans: list[tuple[int | None, int | None]]) -> None:
    versions = [between(n, *span) for n, span in enumerate(spans)]
    wanted = {frozenset((one.row, other.row)) for one, other in combinations(versions, 2) if one.overlaps(other)}
    assert wanted <= {frozenset((one.row, other.row)) for one, other in _at_once(versions)}


def test_values_that_follow_each_other_are_not_compared_each_with_each() -> None:
    versions = [between(n, n, n + 1) for n in range(2_000)]
    assert list(_at_once(versions)) == []
