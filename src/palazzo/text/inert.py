"""Inert text: one line of words that keeps its meaning and triggers nothing where Markdown is displayed.

There, a text notifies a person by `@name`, refers to `#12`, closes what `fixes #12` names, or loads an image. Recorded
words were not written for that, so any such text is quoted as code. Nor can the result control a terminal or reverse
the direction of a line.
"""

from __future__ import annotations

import re

from palazzo.text.lazy_patterns import make_regex
from palazzo.text.visible import visible

_CODE = make_regex(r"(?<!`)(`++)(?:(?!\1).)+?\1(?!`)")
_ACTS = make_regex(
    r"(?<![\w`])(?:@[\w][\w/-]*|#\d+|GH-\d+)"
    r"|(?<![\w`.-])[\w.-]++/[\w.-]++#\d+"
)
_ADDRESS = make_regex(
    r"(?<![a-z0-9+.-])[a-z0-9+.-]++://\S*[^\s.,;:!?)\]}'\"]"
    r"|\bwww\.\S*[^\s.,;:!?)\]}'\"]",
    re.IGNORECASE,
)
"""Each run of characters is read once: a pattern that starts inside one takes quadratic time."""


def inert(words: str) -> str:
    """Return words on one line with the same meaning and no effect when shown as Markdown."""
    words = visible(words)
    parts, at = [], 0
    for code in _CODE.finditer(words):
        parts += [_plain(words[at : code.start()]), code.group()]
        at = code.end()
    return "".join([*parts, _plain(words[at:])])


def _plain(words: str) -> str:
    words = _ADDRESS.sub(lambda found: f"`{found.group().replace('`', '')}`", words.replace("`", "'"))
    pieces, at = [], 0
    for code in _CODE.finditer(words):
        pieces += [_escape_markup(words[at : code.start()]), code.group()]
        at = code.end()
    return "".join([*pieces, _escape_markup(words[at:])])


def _escape_markup(words: str) -> str:
    words = words.replace("<", "&lt;").replace("![", "!\\[").replace("](", "]\\(")
    return _ACTS.sub(lambda found: f"`{found.group()}`", words)
