"""Numbers with nouns, verbs and units that agree with them: `1 drawer is`, `2,000 entries are`, `4.2 KB`."""

from __future__ import annotations

_PLURALS = {
    "entity": "entities",
    "entry": "entries",
    "copy": "copies",
    "near-copy": "near-copies",
    "memory": "memories",
}
"""Plurals that are not formed with -s."""
_SINGULARS = {plural: singular for singular, plural in _PLURALS.items()}


def count_noun(number: int, noun: str) -> str:
    """Return a number with its noun: `1 drawer`, `2,000 drawers`. With several words, the last is the noun."""
    *adjectives, singular = noun.split(" ")
    agreeing_noun = singular if number == 1 else _PLURALS.get(singular, f"{singular}s")
    return " ".join((f"{number:,}", *adjectives, agreeing_noun))


def count_plural(number: int, plural: str) -> str:
    """Return a number with its noun, which is given in the plural: `1 to-do` for `to-dos`."""
    *adjectives, last = plural.split(" ")
    return count_noun(number, " ".join((*adjectives, _SINGULARS.get(last, last.removesuffix("s")))))


def format_bytes(number: int) -> str:
    """Return a number of bytes in readable form."""
    size = float(number)
    for unit in ("bytes", "KB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"


def agree(number: int, singular: str = "is", plural: str = "are") -> str:
    """Return the verb form that agrees with a number of things."""
    return singular if number == 1 else plural
