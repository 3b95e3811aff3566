"""Mentions in a text: identifiers, packages, files, people, products, and numbered things (commits, tickets).

Pure rules over one text, by a name's spelling and its neighbours. Anything that could be an ordinary word is left out:
a missed name does no harm, but a word mistaken for a name does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from palazzo.text.naming.file_names import files, nothings, references
from palazzo.text.naming.identifiers import find_code_names, symbols
from palazzo.text.naming.name_page import KINDS, Kind, Mention, Page, Voice
from palazzo.text.naming.people import find_signatures, people
from palazzo.text.naming.products import packages, products

__all__ = ["KINDS", "Kind", "Mention", "Voice", "mentions"]

_RULES: tuple[Callable[[Page], Iterator[Mention]], ...] = (
    find_signatures,
    nothings,
    files,
    references,
    packages,
    find_code_names,
    products,
    symbols,
    people,
)
"""The rules in order: a later rule ignores what an earlier one has found."""


def mentions(text: str, voice: Voice, people: Collection[str] = ()) -> list[Mention]:
    """Return every mention of something by name in a text, in order; no two overlap.

    `people` are full names of people known from elsewhere: such a name is a person's wherever it occurs in prose.
    """
    page = Page(text, voice, people)
    for rule in _RULES:
        for mention in rule(page):
            page.take(mention)
    return sorted(page.found, key=lambda one: one.start)
