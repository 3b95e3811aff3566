"""Budgets: the share of a prompt's budget for each kind of entry, so that no kind leaves nothing for others. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from palazzo.injection.entry_text import Entry
from palazzo.text.token_counts import estimate_tokens

FIXES, NOTES = 0.4, 0.4
"""Maximum shares of the budget for past fixes and for notes about files. The rest, and whatever these leave unused, is
for entries that match the text. Two fixes with their quoted lines take about 200 tokens.
"""
_LEAST = 40
"""Minimum tokens of a truncated text. A shorter piece is not shown."""
_CHARACTERS = 4
"""Characters per token."""


def fit_budget(entries: Iterable[Entry], tokens: int, whole: bool = False) -> Iterator[Entry]:
    """Yield the entries that fit, in order; a long one is cut, and says so, unless `whole` entries are required."""
    for entry in entries:
        cost = estimate_tokens(entry.text)
        if cost <= tokens:
            yield entry
            tokens -= cost
        elif not whole and tokens >= _LEAST:
            yield replace(entry, text=_beginning(entry.text, tokens), truncated=True)
            return


def cost_of(entries: Iterable[Entry]) -> int:
    """Return the tokens that the texts of these entries take."""
    return sum(estimate_tokens(entry.text) for entry in entries)


def _beginning(text: str, tokens: int) -> str:
    head = text[: tokens * _CHARACTERS]
    return head.rsplit(maxsplit=1)[0] if len(head) < len(text) else head
