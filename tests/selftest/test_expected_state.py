"""The comparison of a palace with what it acknowledged: each way to lose something is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from palazzo.features.selftest.expected_state import Difference, ExpectedState, ObservedState, compare
from palazzo.features.selftest.steps import name_marker, run_operation

ONE, TWO, THREE = map(name_marker, (1, 2, 3))


@pytest.fixture
def palace(tmp_path: Path) -> Path:
    """A palace with two notes, of which one is forgotten, and a fact."""
    path = tmp_path / "palace.db"
    for marker in (ONE, TWO):
        run(path, "remember", text=text_of(marker), wing="shop", tags=(marker,))
    run(path, "forget", tags=(TWO,))
    run(path, "kg_add", subject=THREE, predicate="listens on", object="port 1", wing="shop")
    return path


def run(path: Path, name: str, /, **fields: object) -> None:
    run_operation(path, {"HOME": str(path.parent), "PALAZZO_SERVICE": "off"}, name, **fields)


def text_of(marker: str) -> str:
    return f"The note {marker} says: heron pond."


def expected() -> ExpectedState:
    state = ExpectedState().with_texts({ONE: text_of(ONE), TWO: text_of(TWO)}).with_fact(THREE)
    return state.without_live([TWO])


def test_a_palace_that_holds_what_it_acknowledged_differs_in_nothing(palace: Path) -> None:
    assert compare(expected(), expected(), ObservedState.of(palace)) == Difference()


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (expected().with_texts({name_marker(4): None}), "marker0000004 is not stored"),
        (expected().with_texts({ONE: "Another text."}), "marker0000001 is stored with another text"),
        (expected().with_texts({TWO: text_of(TWO)}), "marker0000002 is stored, and no search finds it"),
        (expected().without_live([ONE]), "marker0000001 was forgotten, and is live again"),
        (
            expected().without_text(ONE),
            "marker0000001 is stored, though it was never acknowledged or was taken back",
        ),
        (expected().with_fact(name_marker(5)), "the fact marker0000005 is not believed"),
        (
            expected().without_fact(THREE),
            "the fact marker0000003 is believed, though it was never acknowledged or was taken back",
        ),
    ],
)
def test_each_loss_is_said(palace: Path, state: ExpectedState, sentence: str) -> None:
    assert sentence in compare(state, state, ObservedState.of(palace)).lost


def test_what_is_stored_twice_is_said(palace: Path) -> None:
    run(palace, "remember", text=text_of(ONE) + " Again.", wing="shop")
    assert compare(expected(), expected(), ObservedState.of(palace)).doubled == ("marker0000001 is stored 2 times",)


def test_a_step_in_parts_may_have_done_a_part(palace: Path) -> None:
    after = expected().with_texts({name_marker(6): None, name_marker(7): None})
    assert compare(expected(), after, ObservedState.of(palace)) == Difference()
    run(palace, "remember", text=text_of(name_marker(6)), wing="shop")
    assert compare(expected(), after, ObservedState.of(palace)) == Difference()
    assert compare(after, after, ObservedState.of(palace)).lost


def test_an_erased_word_that_is_still_in_the_file_is_said(palace: Path) -> None:
    state = expected().without_text(ONE)
    run(palace, "erase", match=ONE, even_most=True)
    assert compare(state, state, ObservedState.of(palace, state.erased)) == Difference()
    with palace.open("ab") as file:
        file.write(f" {ONE} ".encode())
    assert compare(state, state, ObservedState.of(palace, state.erased)).lost


def test_a_palace_whose_creation_was_cut_off_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "palace.db").touch()
    assert not ObservedState.of(tmp_path / "palace.db").texts
    assert not ObservedState.of(tmp_path / "absent.db").texts
