"""What the item table stores comes back: any text, any parts, any bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from palazzo.model import Part
from palazzo.store import items

any_text = st.text(alphabet=st.characters(exclude_categories=()))
parts = st.builds(
    Part,
    st.sampled_from(["text", "thinking", "tool_call", "tool_result", "image", "attachment"]),
    st.integers(0, 1 << 40),
    st.integers(0, 1 << 40),
    any_text,
    any_text,
    st.booleans(),
    st.sampled_from([None, "user", "agent", "repo", "tool", "external"]),
)


@given(any_text, st.integers(1, 300))
def test_every_text_comes_back_as_it_was(text: str, times: int) -> None:
    assert items.decode_text(*items.encode_text(text * times)) == text * times


@given(st.lists(parts).map(tuple))
def test_parts_come_back_as_they_were(given_parts: tuple[Part, ...]) -> None:
    assert items.load_parts(items.dump_parts(given_parts)) == given_parts


def test_a_long_text_is_stored_smaller_than_it_is() -> None:
    stored, codec = items.encode_text("the same words over and over, " * 1000)
    assert (len(stored) < 1000, codec) == (True, items.DEFLATE)
