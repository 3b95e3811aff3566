"""Numbers with their nouns and verbs, as English has them: `1 drawer is`, `2,000 entries are`."""

from __future__ import annotations

_PLURALS = {
    "entity": "entities",
    "entry": "entries",
    "copy": "copies",
    "near-copy": "near-copies",
    "memory": "memories",
}
"""What more than one are called, where that is not the word with an s."""


def counted(number: int, noun: str) -> str:
    """Return how many there are of something: `1 drawer`, `2,000 drawers`; of several words the last is the noun."""
    *before, last = noun.split(" ")
    return " ".join((f"{number:,}", *before, last if number == 1 else _PLURALS.get(last, f"{last}s")))


def agreeing(number: int, one: str = "is", many: str = "are") -> str:
    """Return the verb that goes with a number of things."""
    return one if number == 1 else many
