"""Lines are known again by their digest, wherever they stand, and nothing else is taken for them."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from palazzo.text.excerpt import DIGEST_BYTES, Finder, digest_of, lines_of, says_enough, says_plenty, stands_at

KEY = bytes(range(32))
LINES = st.lists(st.sampled_from([b"a", b"b", b"", b"    return None", b"}"]), max_size=30)


def test_line_ends_trailing_blanks_and_a_byte_order_mark_are_no_part_of_the_lines() -> None:
    assert lines_of("a\n  b\n\nc") == lines_of(b"\xef\xbb\xbfa  \r\n  b\t\r\n\r\nc\r\n") == [b"a", b"  b", b"", b"c"]


def test_a_text_without_words_has_no_lines_and_one_of_line_ends_has_empty_ones() -> None:
    assert lines_of("") == []
    assert lines_of("\n\n") == [b"", b""]


def test_what_is_no_utf8_is_compared_as_a_reader_sees_it() -> None:
    assert lines_of(b"caf\xe9\n") == lines_of("caf\ufffd")


def test_a_lone_surrogate_of_a_transcript_is_hashed_like_any_other_character() -> None:
    assert len(digest_of(lines_of("a \ud800 b"), KEY)) == DIGEST_BYTES


def test_lines_are_known_under_their_own_key_alone() -> None:
    lines = lines_of("def answer():\n    return 42")
    digest = digest_of(lines, KEY)
    assert stands_at(lines, 0, digest, 2, KEY)
    assert not stands_at(lines, 0, digest, 2, bytes(32))


def test_a_place_outside_the_file_holds_nothing() -> None:
    lines = lines_of("one\ntwo")
    digest = digest_of(lines, KEY)
    assert [stands_at(lines, first, digest, 2, KEY) for first in (-2, -1, 0, 1, 2)] == [
        False,
        False,
        True,
        False,
        False,
    ]


@given(LINES, st.data())
def test_lines_are_found_at_each_of_their_places_and_at_no_other(lines: list[bytes], data: st.DataObject) -> None:
    if not lines:
        return
    first = data.draw(st.integers(0, len(lines) - 1))
    count = data.draw(st.integers(1, len(lines) - first))
    sought = lines[first : first + count]
    places = [at for at in range(len(lines) - count + 1) if lines[at : at + count] == sought]
    assert list(Finder(lines, KEY).places(digest_of(sought, KEY), count)) == places


def test_lines_that_are_not_there_are_not_found_though_their_ends_are() -> None:
    lines = [b"begin", b"other", b"end"]
    assert list(Finder(lines, KEY).places(digest_of([b"begin", b"middle", b"end"], KEY), 3)) == []
    assert list(Finder(lines, KEY).places(digest_of([b"begin", b"end"], KEY), 2)) == []
    assert list(Finder([], KEY).places(os.urandom(DIGEST_BYTES), 1)) == []


def test_a_lone_brace_says_too_little_and_a_line_of_code_enough() -> None:
    assert not says_enough([b"}", b"", b"    )"])
    assert not says_enough([b"    return None"])
    assert says_enough([b"    return self.connection"])
    assert not says_plenty([b"    return self.connection"])
    assert says_plenty(
        [b"def connect(self, address: str) -> Connection:", b"    return Connection(address, timeout=5)"]
    )
