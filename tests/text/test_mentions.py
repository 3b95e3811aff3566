"""What a text is taken to mention, and what it is not."""

from __future__ import annotations

from itertools import pairwise

import pytest
from benchmarks.entities.passages import Passage, read_passages

from palazzo.text.text_mentions import Voice, mentions

GOAL = 0.95, 0.6
"""Precision and recall on passages that no rule was made on."""


def found(text: str, voice: Voice = "assistant") -> dict[str, str]:
    return {one.text: one.kind for one in mentions(text, voice)}


def test_a_mention_stands_in_the_text_where_it_says_and_none_overlaps_another() -> None:
    text = "Anna moved `load_rows` from src/rows.py to httpx 0.27 (#412), see 9e1c7d2."
    places = mentions(text, "commit")
    assert [text[one.start : one.end] for one in places] == [one.text for one in places]
    assert all(one.end <= after.start for one, after in pairwise(places))
    assert {one.kind for one in places} == {"person", "identifier", "file", "package", "reference"}


@pytest.mark.parametrize(
    "text",
    [
        "I/O, and/or, he/she, 24/7 and w/o are no paths.",
        "May I go now? Will it be enough, or is there hope?",
        "PLEASE STOP. I MEAN IT.",
        "https://example.com/src/main.py and jane.doe@example.com",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "The spec says SHOULD and MUST; UTF-8 and SHA-256 are no tickets.",
        "The request came with a click, a rich one, and we express our interest.",
    ],
)
def test_ordinary_words_name_nothing(text: str) -> None:
    assert found(text) == {}


def test_a_word_that_is_a_package_too_needs_a_cue() -> None:
    assert found("Switch from requests to httpx.") == {"requests": "package", "httpx": "package"}
    assert found("The requests were slow.") == {}


def test_people_are_those_whom_a_commit_names_whom_a_handle_means_and_whom_a_name_tells() -> None:
    assert found("Author: Kofi Mensah <kofi@wren.example>", "commit") == {"Kofi Mensah": "person"}
    assert found("ask @jorun-b", "chat") == {"@jorun-b": "person"}
    assert found("Grace opened it; the grace period ended.", "user") == {"Grace": "person"}


def test_names_in_hostile_text_are_read_in_reasonable_steps() -> None:
    for unit in ("\n", "a.", "a-", "@a/", "語", "`a", "0a"):
        assert mentions(unit * 4000, "user") is not None


def test_precision_and_recall_hold_on_passages_that_no_rule_was_made_on() -> None:
    right = wrong = missed = 0
    for passage in (one for one in read_passages() if one.split == "held-out"):
        got = {(one.text, one.kind) for one in mentions(passage.text, passage.role)}
        hits = {text for text, kind in got if is_right(passage, text, kind)}
        right += len(hits)
        wrong += sum(text not in hits and not any(text in each for each in passage.either) for text, _ in got)
        missed += sum(one.text not in hits for one in passage.mentions)
    assert right / (right + wrong) >= GOAL[0]
    assert right / (right + missed) >= GOAL[1]


def is_right(passage: Passage, text: str, kind: str) -> bool:
    return any(one.text == text and kind in one.kinds for one in passage.mentions)
