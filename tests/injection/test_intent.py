"""What asks for the past, and what only sounds like it. The labelled prompts are in benchmarks/intent."""

from __future__ import annotations

import pytest
from benchmarks.intent.prompts import read_prompts
from benchmarks.intent_rules import has_topic

from palazzo.injection.intent import Intent, intent


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("What did we decide about the retry policy?", "retry policy"),
        ("why did we choose Postgres over MySQL", "Postgres MySQL"),
        ("Back to our parser.", "parser"),
        ("continue where we left off with pagination", "pagination"),
        ("Please fix it.\nAs we discussed, use feature flags.", "feature flags"),
        ("what did we do in the last session?", ""),
    ],
)
def test_the_topic_is_what_is_left_when_the_asking_is_taken_away(prompt: str, topic: str) -> None:
    found = intent(prompt)
    assert found is not None
    assert set(topic.split()) <= set(found.topic.split())
    assert found.is_whole == (not topic)


@pytest.mark.parametrize(
    "prompt",
    ["", "continue", "what did we eat", "do you remember my name?", "did we?", "what did we decide?", "42", "\0", "🙂"],
)
def test_without_a_topic_nothing_is_asked_for(prompt: str) -> None:
    assert intent(prompt) is None


def test_a_pasted_error_is_part_of_a_topic_that_says_little() -> None:
    found = intent("we've seen this before, what was it?\n\nTraceback (most recent call last):\nKeyError: 'tenant'")
    assert found == Intent("KeyError tenant")


def test_what_is_pasted_below_is_not_read() -> None:
    assert intent("fix the test\n" + "x = 1\n" * 1_000 + "what did we decide about the retry policy?") is None


def test_the_labelled_prompts_are_told_apart() -> None:
    prompts = read_prompts()
    asking, others = [one for one in prompts if one.asks], [one for one in prompts if not one.asks]
    assert sum(intent(one.text) is not None for one in asking) >= 0.9 * len(asking)
    assert sum(intent(one.text) is not None for one in others) < 0.02 * len(others)
    assert sum(has_topic(one) for one in asking) >= 0.9 * len(asking)


@pytest.mark.parametrize("word", ["we ", "what ", "why did ", "continue ", "we've ", "a.", "\n", "the last ", "x"])
def test_a_prompt_of_any_shape_is_read_to_its_end(word: str) -> None:
    """A pattern that tried every way of matching these would not come back."""
    assert intent(word * 10_000) is None
