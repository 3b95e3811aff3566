"""Names: when two spellings are one, and which names are near another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.text.names import fold, near, tidy


@pytest.mark.parametrize("spelled", ["Auth-Service", "auth_service", " AUTH  service ", "auth - service"])
def test_case_and_joints_make_no_other_name(spelled: str) -> None:
    assert fold(spelled) == "auth service"


@pytest.mark.parametrize(("one", "other"), [("c", "c++"), ("authservice", "auth service"), ("-", "_"), ("v1.2", "v12")])
def test_what_differs_otherwise_is_another_name(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(st.text())
def test_folding_twice_changes_nothing_more(name: str) -> None:
    assert fold(fold(name)) == fold(name)
    assert tidy(tidy(name)) == tidy(name)


def test_near_is_a_slip_or_a_part_at_the_edge_of_a_word() -> None:
    names = ["postgres", "postgres cluster", "mongo", "compost", "auth service", "x" * 500]
    assert near("postgress", names) == ["postgres"]
    assert near("postgres cluster two", names) == ["postgres cluster", "postgres"]
    assert near("post", names) == []
    assert near("cluster", names) == ["postgres cluster"]
    assert near("x" * 499, names) == []
    assert near("au", names) == []
