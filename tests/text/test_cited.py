"""Lines are known again by their digest, wherever they stand, and nothing else is taken for them."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from palazzo.text.cited_lines import DIGEST_BYTES, Finder, digest, lines_of, says_enough, says_plenty

KEY = bytes(range(32))
LINES = st.lists(st.sampled_from(["a", "b", "", "    return None", "}"]), max_size=30)


def test_line_ends_trailing_blanks_and_a_byte_order_mark_are_no_part_of_the_lines() -> None:
    assert lines_of("a\n  b\n\nc") == lines_of(b"\xef\xbb\xbfa  \r\n  b\t\r\n\r\nc\r\n") == ["a", "  b", "", "c"]


def test_a_text_without_words_has_no_lines_and_one_of_line_ends_has_empty_ones() -> None:
    assert lines_of("") == []
    assert lines_of("\n\n") == ["", ""]
    assert digest(KEY, []) == b""


def test_what_is_no_utf8_is_compared_as_a_reader_sees_it() -> None:
    assert lines_of(b"caf\xe9\n") == lines_of("caf\ufffd")


def test_a_lone_surrogate_of_a_transcript_is_hashed_like_any_other_character() -> None:
    lines = lines_of("a \ud800 b")
    assert len(digest(KEY, lines)) == DIGEST_BYTES
    assert Finder(KEY, lines).stands_at(0, digest(KEY, lines), 1)


def test_lines_are_known_under_their_own_key_alone() -> None:
    lines = lines_of("def answer():\n    return 42")
    assert Finder(KEY, lines).stands_at(0, digest(KEY, lines), 2)
    assert not Finder(bytes(32), lines).stands_at(0, digest(KEY, lines), 2)


def test_a_place_outside_the_file_holds_nothing() -> None:
    lines = lines_of("one\ntwo")
    finder, known = Finder(KEY, lines), digest(KEY, lines)
    assert [finder.stands_at(first, known, 2) for first in (-2, -1, 0, 1, 2)] == [False, False, True, False, False]
    assert not finder.stands_at(0, b"", 0)


@given(LINES, st.data())
def test_lines_are_found_at_each_of_their_places_and_at_no_other(lines: list[str], data: st.DataObject) -> None:
    if not lines:
        return
    first = data.draw(st.integers(0, len(lines) - 1))
    count = data.draw(st.integers(1, len(lines) - first))
    sought = lines[first : first + count]
    places = [at for at in range(len(lines) - count + 1) if lines[at : at + count] == sought]
    assert Finder(KEY, lines).places(digest(KEY, sought), count) == places


def test_lines_that_are_not_there_are_not_found_though_their_ends_are() -> None:
    finder = Finder(KEY, ["begin", "other", "end"])
    assert finder.places(digest(KEY, ["begin", "middle", "end"]), 3) == []
    assert finder.places(digest(KEY, ["begin", "end"]), 2) == []
    assert finder.places(b"", 0) == []
    assert Finder(KEY, []).places(os.urandom(DIGEST_BYTES), 1) == []


def test_what_could_stand_nearly_everywhere_is_not_compared_everywhere() -> None:
    finder = Finder(KEY, ["}"] * 5_000)
    assert finder.places(digest(KEY, ["}", *["{"] * 98, "}"]), 100) is None
    assert finder.places(digest(KEY, ["}"] * 4_999), 4_999) == [0, 1]


def test_of_lines_that_stand_in_a_file_again_and_again_the_first_places_are_told() -> None:
    assert Finder(KEY, ["}"] * 500).places(digest(KEY, ["}"]), 1, most=3) == [0, 1, 2]


def test_a_lone_brace_says_too_little_and_a_line_of_code_enough() -> None:
    assert not says_enough(["}", "", "    )"])
    assert not says_enough(["    return None"])
    assert says_enough(["    return self.connection"])
    assert not says_plenty(["    return self.connection"])
    assert says_plenty(["def connect(self, address: str) -> Connection:", "    return Connection(address, timeout=5)"])
