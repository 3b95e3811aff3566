"""Private spans: the text between `<private>` and `</private>` is never archived.

Tags are recognised in any case, with attributes, with spaces, and with their brackets escaped as in JSON. A single tag
between backticks is a mention and is ignored. Spans can be nested. A span without a closing tag is private to the end
of the text. A closing tag without an opening tag is ordinary text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from palazzo.text.lazy_patterns import make_regex

PRIVATE_TAG = b"private"
"""The word in every tag, in lower case."""
_TAG = make_regex(
    r"(?:<|\\{1,8}u003c)\s{0,8}(?P<close>/?)\s{0,8}private(?=[\s>/\\])(?P<rest>[^<>\\]{0,400})(?:>|\\{1,8}u003e)",
    re.IGNORECASE,
)


_TAG_START = make_regex(r"(?:<|\\{1,8}u003c)\s{0,8}/?\s{0,8}\Z", re.IGNORECASE)
_BEFORE_THE_NAME = 32


def private_spans(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Return the private spans of `text` between `start` and `end`, tags included: the outermost, in order."""
    end = len(text) if end is None else end
    spans: list[tuple[int, int]] = []
    depth = block_start = 0
    for tag in private_tags(text, start, end):
        if text.startswith("`", tag.end()) and text[max(0, tag.start() - 1) : tag.start()] == "`":
            continue  # spoken of, not used
        if not tag["close"]:
            if not tag["rest"].rstrip().endswith("/"):  # <private/> holds nothing
                block_start = block_start if depth else tag.start()
                depth += 1
        elif depth:
            depth -= 1
            if not depth:
                spans.append((block_start, tag.end()))
    return [*spans, (block_start, end)] if depth else spans


def private_tags(text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
    """Yield the tags of private spans, opening and closing, between `start` and `end`."""
    # Tags by their name, which is looked for in bytes: a regular expression would read every `<`.
    end = len(text) if end is None else end
    if text.find("<", start, end) < 0 and text.find("u003", start, end) < 0:
        return
    haystack = text[start:end].encode("ascii", "replace").lower()
    at = haystack.find(PRIVATE_TAG)
    while at >= 0:
        tag_start = _TAG_START.search(text, max(start, start + at - _BEFORE_THE_NAME), start + at)
        tag = _TAG.match(text, tag_start.start(), end) if tag_start else None
        if tag:
            yield tag
        at = haystack.find(PRIVATE_TAG, tag.end() - start if tag else at + 1)
