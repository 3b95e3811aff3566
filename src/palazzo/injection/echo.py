"""What a session said itself is not handed back to it, nor the question that it asks. Pure.

Words that were captured a moment ago are what a search for the prompt's words finds best, and next to these the same
question, put in another session. A note that somebody chose to
keep is never taken for an echo.
"""

from __future__ import annotations

from collections.abc import Set

from palazzo.text.compiled_patterns import compile_pattern
from palazzo.text.stopwords import STOP_WORDS

OVERLAP = 0.7
"""The share of the prompt's words that a captured text of the same session has when it is an echo of it."""
_WORD = compile_pattern(r"\w+")

Words = frozenset[str]


def words(text: str) -> Words:
    """Return the words of a text that tell it from others, folded."""
    return frozenset(word for word in _WORD.findall(text.casefold()) if word not in STOP_WORDS)


def asks_the_same(prompt: Set[str], text: str) -> bool:
    """Whether a question that somebody put, and that has no answer beside it, has no word that the prompt lacks."""
    return words(text) <= prompt


def is_echo(prompt: Set[str], text: str) -> bool:
    """Whether a captured text of the same session only says again what the prompt says; `prompt` are its `words`."""
    return bool(prompt) and len(prompt & words(text)) >= OVERLAP * len(prompt)
