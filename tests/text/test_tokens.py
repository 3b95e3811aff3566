"""Token estimates: near what the tokenizer counted, and never a surprise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.text.token_counts import estimate_tokens

PROSE = (
    "Palazzo keeps the exact words of every session, document and note, finds them again in milliseconds, and "
    "puts the right few of them in front of the agent without anybody asking."
)
CODE = "def split(text: str, limit: int = 1000) -> list[tuple[int, int]]:\n    return [(0, len(text))]\n"


# Counted with the tokenizer of all-MiniLM-L6-v2, without its two special tokens.
@pytest.mark.parametrize(("text", "counted"), [(PROSE, 38), (CODE, 38), ("日本語" * 40, 120)])
def test_estimates_are_near_the_count(text: str, counted: int) -> None:
    assert estimate_tokens(text) == pytest.approx(counted, rel=0.2)


@given(st.text())
def test_only_white_space_is_free(text: str) -> None:
    assert (estimate_tokens(text) == 0) == (not text.strip())


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(one: str, other: str) -> None:
    assert estimate_tokens(f"{one} {other}") >= max(estimate_tokens(one), estimate_tokens(other))
