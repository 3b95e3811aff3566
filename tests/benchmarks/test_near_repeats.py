"""Of near-repeats, it is counted right what repeats what, and which passages a tool printed."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.near_repeats import (
    CALL,
    OTHER,
    OUTPUT,
    EmbeddedText,
    Passage,
    distinct,
    kind_of,
    near_by_shape,
    near_by_words,
    shape,
)

from palazzo.model import Part


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 passed in 0.42s", "12 passed in 11.07s"),
        ("To origin\n   f0b86dd..3114215  main", "To origin\n   dbe5100..66e1a0a  main"),
        ("2026-11-29T06:23:12.5Z ready, pid 41", "2025-01-02 07:00:01 ready, pid 9876"),
        ("-rw-r--r-- 1 lena  2048 a.py", "-rw-r--r-- 1 lena 12048 a.py\n"),
        ("at 0x7ffd3a10", "at 0x55e0c4d2"),
    ],
)
def test_what_changes_from_run_to_run_has_no_part_in_the_shape(one: str, other: str) -> None:
    assert shape(one) == shape(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 passed in 0.42s", "3 failed in 0.42s"),
        ("KeyError: 'port'", "KeyError: 'host'"),
        ("src/a1.py: ok", "src/b1.py: ok"),
        ("defaced", "effaced"),
        ("a b", "ab"),
    ],
)
def test_words_names_and_paths_have(one: str, other: str) -> None:
    assert shape(one) != shape(other)


def test_a_passage_is_a_tools_only_if_it_lies_within_one_output_or_call() -> None:
    parts = [Part("text", 0, 10), Part("tool_call", 10, 20, "Bash", "c"), Part("tool_result", 20, 40, "", "c")]
    assert [kind_of(parts, *span) for span in ((0, 10), (10, 20), (25, 40), (15, 30))] == [OTHER, CALL, OUTPUT, OTHER]
    assert kind_of([], 0, 5) == OTHER


def test_equal_texts_count_once_at_their_first_place() -> None:
    passages = [Passage(OUTPUT, "a"), Passage(OTHER, "b"), Passage(OTHER, "a")]
    assert distinct(passages) == passages[:2]


def test_only_an_earlier_text_of_the_same_kind_is_repeated() -> None:
    texts = [text(OTHER, "run 1"), text(OUTPUT, "run 2"), text(OUTPUT, "run 3"), text(OUTPUT, "ran 3")]
    assert near_by_shape(texts) == {2: 1}


def test_tool_output_with_a_line_more_is_alike() -> None:
    lines = [f"tests/test_{name}.py passed" for name in ("ports", "hosts", "users", "rooms", "wings", "doors", "halls")]
    texts = [text(OUTPUT, "\n".join(lines * 2)), text(OTHER, "\n".join(lines * 2)), text(OUTPUT, "\n".join(lines))]
    assert near_by_words(texts) == {2: 0}


def text(kind: str, words: str) -> EmbeddedText:
    return EmbeddedText(kind, words, np.zeros(2, np.float32), 0.0)
