"""Matching of a pasted error with recorded ones: by its signature, else by the words that they share. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from palazzo.knowledge.failures import signature

MOST_LINES = 200
"""Maximum number of lines of a paste that are compared, from its end: a long traceback states the error last."""
_LONGEST_LINE = 300
"""The consumer of failures cuts an error's line here (`index/digest_work`)."""
_LEAST_SHARE = 0.5
"""Minimum share of words that two lines have in common to count as similar. A rewording shares more, another error of
the same program less.
"""
_FEWEST_WORDS = 3
"""A recorded line with fewer words must not decide by standing completely in a longer pasted line."""
_MARKS = ("e ", "> ", "error: ", "fatal: ", "npm err! ", "npm error ")
"""What tools put before an error's line, as signatures have it: pytest `E   `, quotations `> `, others the rest. A
person who copies the message leaves the mark out, or copies it from another tool's output.
"""
_WORD = re.compile(r"\w*[^\W\d]\w*")
_GENERIC_WORDS = frozenset(
    {
        "a", "an", "and", "at", "be", "by", "called", "cannot", "error", "errors", "exception", "exit", "code",
        "failed", "failure", "fatal", "file", "for", "from", "has", "have", "in", "is", "it", "last", "line", "most",
        "no", "none", "not", "of", "on", "or", "recent", "that", "the", "this", "to", "traceback", "type", "value",
        "was", "with",
    }
)  # fmt: skip
"""Words of errors of every kind: they make no two alike."""


def pasted_lines(text: str) -> list[str]:
    """Return the distinct lines of a pasted error, without colours and prompts, as failures store theirs."""
    lines = (_plain_line(line)[:_LONGEST_LINE] for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if line))[-MOST_LINES:]


def signatures_in(lines: Iterable[str]) -> list[str]:
    """Return the signatures of the lines that are specific enough to have one: as pasted, and with any tool's mark."""
    own_signatures = list(dict.fromkeys(filter(None, map(signature, lines))))
    messages = dict.fromkeys(message for message in map(_without_marks, own_signatures) if signature(message))
    return list(dict.fromkeys([*own_signatures, *messages, *(mark + text for text in messages for mark in _MARKS)]))


def _without_marks(error_signature: str) -> str:
    for mark in _MARKS:
        if error_signature.startswith(mark):
            return _without_marks(error_signature.removeprefix(mark))
    return error_signature


def are_similar(pasted: Sequence[str], recorded: Sequence[str]) -> bool:
    """Return whether a line of the paste says nearly what a line of a recorded error says."""
    recorded_words = [_words(line) for line in recorded]
    return any(_is_like(_words(line), words) for line in pasted for words in recorded_words)


def _is_like(pasted: frozenset[str], recorded: frozenset[str]) -> bool:
    if not pasted or not recorded:
        return False
    contains = pasted <= recorded or (len(recorded) >= _FEWEST_WORDS and recorded <= pasted)
    return contains or len(pasted & recorded) >= _LEAST_SHARE * len(pasted | recorded)


def _plain_line(line: str) -> str:
    return re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", line).strip()


def _words(line: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(line)) - _GENERIC_WORDS
