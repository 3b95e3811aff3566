"""Near-copies: the same words are the same text, other words are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.text.similarity import containment, copies, likeness, signature

WORDS = st.lists(st.sampled_from("alpha beta gamma delta epsilon zeta".split()), max_size=40)  # noqa: SIM905


@given(WORDS, st.sampled_from([" ", "\n", " \t ", ", "]))
def test_case_white_space_and_punctuation_do_not_matter(words: list[str], gap: str) -> None:
    assert signature(gap.join(words).upper()) == signature(" ".join(words))


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_text_is_split_like_any_other(text: str) -> None:
    assert signature(f"word {text}") == signature(f"word {text} …")


@given(st.text(), st.text())
def test_a_share_is_between_none_and_all(one: str, other: str) -> None:
    assert 0.0 <= containment(signature(one), signature(other)) <= 1.0


@given(st.text())
def test_a_text_contains_itself(text: str) -> None:
    assert containment(signature(text), signature(text)) == (1.0 if text.strip() else 0.0)


def test_a_quotation_is_in_its_source_and_not_the_other_way_round() -> None:
    quotation = "the palace is locked while a writer is at work"
    source = f"Somebody asked about it. As we said: {quotation}, and that was in March, long after the change."
    assert containment(signature(quotation), signature(source)) == 1.0
    assert containment(signature(source), signature(quotation)) < 0.6


def test_an_edited_copy_is_near_and_another_text_is_not() -> None:
    words = [f"word{i}" for i in range(100)]
    edited = [*words[:50], "changed", *words[51:]]
    assert containment(signature(" ".join(edited)), signature(" ".join(words))) == pytest.approx(95 / 98)
    assert containment(signature(" ".join(reversed(words))), signature(" ".join(words))) == 0.0


@pytest.mark.parametrize("text", ["one", "one two", "🎉🎉", "猫"])
def test_short_texts_are_compared_whole(text: str) -> None:
    assert containment(signature(text), signature(text)) == 1.0
    assert containment(signature(text), signature("something else")) == 0.0


def test_chinese_is_compared_by_characters() -> None:
    one, other = signature("他们在三月锁上了宫殿的大门"), signature("他们在四月锁上了宫殿的大门")
    assert 0.5 < containment(one, other) < 1.0


@given(st.lists(st.frozensets(st.integers(0, 12), max_size=8), max_size=12), st.sampled_from([0.3, 0.5, 0.85, 1.0]))
def test_copies_are_those_that_comparing_all_with_all_finds(signatures: list[frozenset[int]], threshold: float) -> None:
    originals: list[int] = []
    expected: dict[int, set[int]] = {}
    for n, own in enumerate(signatures):
        alike = {one: likeness(own, signatures[one]) for one in originals}
        if alike and max(alike.values()) >= threshold:
            best = [one for one in originals if alike[one] == max(alike.values())]
            expected[n] = set(best)
        else:
            originals.append(n)
    found = {copy: original for original, own in copies(dict(enumerate(signatures)), threshold).items() for copy in own}
    assert found.keys() == expected.keys()
    assert all(original in expected[copy] for copy, original in found.items())


def test_likeness_is_of_the_text_that_has_less_of_the_other() -> None:
    short, long = signature("the heron counts its eggs"), signature("the heron counts its eggs and signs the ledger")
    assert likeness(short, short) == 1.0
    assert likeness(short, long) == likeness(long, short) < containment(short, long) == 1.0
    assert likeness(signature(""), short) == 0.0
