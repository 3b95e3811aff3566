"""What a text mentions: identifiers, packages, files, people, products, and what has a number (commits, tickets).

Pure rules over one text, by how a name is spelled and what stands beside it. What could be an ordinary word is left
out: a name that is not found does no harm, a word that is taken for one does.
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
"""In this order: what an earlier one has found, a later one leaves alone."""


def mentions(text: str, voice: Voice, people: Collection[str] = ()) -> list[Mention]:
    """Return every place at which a text names something, in order; no two overlap.

    `people` are full names of those who are known otherwise: such a name is a person's wherever it stands in prose.
    """
    page = Page(text, voice, people)
    for rule in _RULES:
        for mention in rule(page):
            page.take(mention)
    return sorted(page.found, key=lambda one: one.start)
