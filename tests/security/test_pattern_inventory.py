"""The search for slow patterns finds those that are slow, and no others."""

from __future__ import annotations

import re

import pytest
from tests.security.pattern_inventory import Use, find_slow_text

LENGTH = 3_000


def test_a_pattern_that_reads_again_is_found() -> None:
    assert find_slow_text(Use(re.compile(r"a*b"), is_anchored=False), LENGTH) is not None


@pytest.mark.parametrize("pattern", [r"(?<!a)a++b", r"a{0,20}b", r"\n[^\n]*+"])
def test_a_pattern_that_reads_once_is_not(pattern: str) -> None:
    assert find_slow_text(Use(re.compile(pattern), is_anchored=False), LENGTH) is None


def test_a_pattern_that_is_slow_in_a_search_may_be_fast_at_the_beginning() -> None:
    assert find_slow_text(Use(re.compile(r"a*b"), is_anchored=True), LENGTH) is None
