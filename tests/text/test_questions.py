"""What the form of a text tells."""

from __future__ import annotations

import pytest

from palazzo.text.questions import Marks, asks_when, marks


@pytest.mark.parametrize("text", ["Shall we?", "Shall we?  ", 'He asked "shall we?"', "行きますか？", "Really?)"])
def test_a_text_that_ends_in_a_question_mark_asks(text: str) -> None:
    assert Marks.ASKS in marks(text)


@pytest.mark.parametrize("text", ["", "Why? Because.", "a ? b : c", "We shall."])
def test_a_text_that_goes_on_after_its_question_does_not(text: str) -> None:
    assert Marks.ASKS not in marks(text)


@pytest.mark.parametrize("text", ["We met yesterday.", "in May", "since 2019", "two weeks ago", "on Tuesday"])
def test_words_of_time_are_seen(text: str) -> None:
    assert Marks.SPEAKS_OF_TIME in marks(text)


@pytest.mark.parametrize("text", ["", "the port is 8443x", "a maybe", "Mayor Sunny", "x" * 5000 + " yesterday"])
def test_what_only_looks_like_time_is_not(text: str) -> None:
    assert Marks.SPEAKS_OF_TIME not in marks(text)


@pytest.mark.parametrize("question", ["When did we ship?", "what year was it", "how long did it take", "Since when?"])
def test_a_question_may_ask_for_a_time(question: str) -> None:
    assert asks_when(question)


@pytest.mark.parametrize("question", ["", "who whenever", "Which port?", "how do I build it"])
def test_others_do_not(question: str) -> None:
    assert not asks_when(question)
