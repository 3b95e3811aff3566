"""Words that are known by keyed hashes: found wherever they stand, and nowhere else."""

from __future__ import annotations

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from palazzo.text.escapes import spellings, strings
from palazzo.text.hashed_words import ANYWHERE, AS_WORDS, COVER, WHOLE, Finder, MatchMode

KEY = b"k" * 32
_words = st.text(alphabet=st.sampled_from("abc é漢🙂\n\0\ud800"), min_size=1, max_size=40)


def finder(*words: str, standing: MatchMode = ANYWHERE) -> Finder:
    blank = Finder(KEY)
    return Finder(KEY, [blank.hash_words(one, standing) for one in words])


@settings(max_examples=60)
@given(_words, st.lists(_words, min_size=1, max_size=4), st.text(alphabet="abc é漢🙂\n\0", max_size=60))
def test_words_are_found_wherever_they_stand(first: str, words: list[str], around: str) -> None:
    text = around + first + around.join(words) + around
    known = finder(first, *words)
    covered = set()
    for word in (first, *words):
        for found in re.finditer(f"(?={re.escape(word)})", text):
            covered |= set(range(found.start(), found.start() + len(word)))
    assert {n for start, end in known.find(text) for n in range(start, end)} == covered
    assert known.suspects(["nothing?", text]) - {0} == {1}
    assert len(known.cover_text(text)) == len(text)


def test_other_words_are_not_found() -> None:
    known = finder("hunter2-secret-thing", "x" * 500)
    assert known.find("hunter2-secret-thin, hunter-2-secret-thing, " + "x" * 499) == []
    assert known.suspects(["hunter2-secret", "-thing"]) == set()
    assert Finder(KEY).find("anything") == []
    assert not Finder(KEY)


def test_another_key_finds_nothing() -> None:
    words = finder("hunter2").hash_words("hunter2")
    assert Finder(b"other key", [words]).find("hunter2") == []


def test_words_that_must_stand_alone_are_not_found_in_others() -> None:
    known = finder("Ann", standing=AS_WORDS)
    assert (
        known.cover_text("Ann Annual Joanna _Ann Ann! über-Ann")
        == f"{COVER * 3} Annual Joanna _Ann {COVER * 3}! über-{COVER * 3}"
    )


def test_a_text_that_is_known_as_a_whole_is_not_found_in_others() -> None:
    known = finder("yes", standing=WHOLE)
    assert (known.cover_text("yes"), known.cover_text("yes?")) == (COVER * 3, "yes?")
    assert known.suspects(["no", "yes", "yes?"]) == {1}


@settings(max_examples=40)
@given(st.text(max_size=20), st.integers(0, 4))
def test_escapes_of_json_are_undone_however_deep(text: str, depth: int) -> None:
    written = text
    for _ in range(depth):
        written = json.dumps({"in": written})
    assert any(text in spelling for spelling in spellings(written))
    if depth:
        assert text in list(strings(written.encode()))


def test_what_is_no_json_is_given_as_it_is() -> None:
    assert list(strings(b'{"cut off: "a\\nb')) == ['{"cut off: "a\\nb', '{"cut off: "a\nb']
    assert "4111" in list(strings(b'{"card": 4111}'))
