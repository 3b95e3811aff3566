"""Numbers with nouns and verbs that agree with them: `1 drawer is`, `2,000 entries are`."""

from __future__ import annotations

_PLURALS = {
    "entity": "entities",
    "entry": "entries",
    "copy": "copies",
    "near-copy": "near-copies",
    "memory": "memories",
}
"""Plurals that are not formed with -s."""


def count_noun(number: int, noun: str) -> str:
    """Return a number with its noun: `1 drawer`, `2,000 drawers`. With several words, the last is the noun."""
    *adjectives, singular = noun.split(" ")
    agreeing_noun = singular if number == 1 else _PLURALS.get(singular, f"{singular}s")
    return " ".join((f"{number:,}", *adjectives, agreeing_noun))


def agree(number: int, singular: str = "is", plural: str = "are") -> str:
    """Return the verb form that agrees with a number of things."""
    return singular if number == 1 else plural
