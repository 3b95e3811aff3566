"""Shares of a prompt's budget: what each kind of thing may take, so that none leaves nothing for the others. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from palazzo.injection.entry_text import Entry
from palazzo.text.token_counts import estimate_tokens

FIXES, NOTES = 0.4, 0.4
"""Of the budget: what past fixes may take, and what is noted about files. The rest, and what these leave, is for what
the words call for. Two fixes with their quoted lines take some 200 tokens."""
_LEAST = 40
"""Tokens below which a cut piece of text is not worth telling."""
_CHARACTERS = 4
"""Of a token."""


def fit_budget(entries: Iterable[Entry], tokens: int, whole: bool = False) -> Iterator[Entry]:
    """Yield the entries that fit, in order; a long one is cut, and says so, unless it makes sense only `whole`."""
    for entry in entries:
        cost = estimate_tokens(entry.text)
        if cost <= tokens:
            yield entry
            tokens -= cost
        elif not whole and tokens >= _LEAST:
            yield replace(entry, text=_beginning(entry.text, tokens), truncated=True)
            return


def cost_of(entries: Iterable[Entry]) -> int:
    """Return the tokens that the words of these entries take."""
    return sum(estimate_tokens(entry.text) for entry in entries)


def _beginning(text: str, tokens: int) -> str:
    head = text[: tokens * _CHARACTERS]
    return head.rsplit(maxsplit=1)[0] if len(head) < len(text) else head
