"""Echo filter: a session does not get back its own words, nor the question that it is asking. Pure.

Text that was captured a moment ago is the best match for the prompt's words; the next best is the same question from
another session. A note that somebody chose to keep never counts as an echo.
"""

from __future__ import annotations

from collections.abc import Set

from palazzo.text.lazy_patterns import make_regex
from palazzo.text.stopwords import STOP_WORDS

OVERLAP = 0.7
"""Minimum share of the prompt's words in a captured text of the same session for the text to be an echo of the
prompt.
"""
_WORD = make_regex(r"\w+")

Words = frozenset[str]


def words(text: str) -> Words:
    """Return the distinctive words of a text, folded."""
    return frozenset(word for word in _WORD.findall(text.casefold()) if word not in STOP_WORDS)


def asks_the_same(prompt: Set[str], text: str) -> bool:
    """Return whether every word of a question, stored without an answer, is in the prompt."""
    return words(text) <= prompt


def is_echo(prompt: Set[str], text: str) -> bool:
    """Return whether a captured text of the same session only repeats the prompt; `prompt` are its `words`."""
    return bool(prompt) and len(prompt & words(text)) >= OVERLAP * len(prompt)
