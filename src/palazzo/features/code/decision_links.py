"""Decision links: how the text of a decision is connected with a file and with what edits introduced in it. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from palazzo.features.code.edit_texts import EditText

_SHORTEST_STEM = 5
"""Minimum letters of a file name without its extension that name the file by themselves."""
_MOST_NAMED = 2
"""Maximum number of identifiers that one label names."""
_LONGEST_TEXT = 200_000
"""Characters of one edit in which identifiers are looked for."""
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_CODE_SHAPE = re.compile(r"[A-Za-z0-9]_[A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
"""An identifier that no prose has: snake_case, camelCase or HTTPServer."""
_GENERAL = re.compile(r"__\w+__|\w*(?:Error|Exception|Warning)")
"""Identifiers that code of all files has."""
_DEFINITION = re.compile(r"\b(?:class|const|def|enum|fn|func|function|interface|let|struct|trait|type|var) +(\w+)")
_DIRECTORY = re.compile(r"[\w./@+-]*\Z")
_LONGEST_DIRECTORY = 200
"""Characters before a file's name that may be its directory."""
_MARKED = re.compile(r"`(\w+)`|\b(\w+)\(")
"""How prose sets off an identifier that is an ordinary word."""


class Link(NamedTuple):
    """A connection of a decision with the file: its label, and how much it counts."""

    label: str
    weight: int


SAME_EXCHANGE = Link("in the same exchange as an edit", 2)
MENTIONED = Link("in an exchange that mentions it", 1)
FULL_NAME_WEIGHT, IDENTIFIER_WEIGHT, STEM_WEIGHT = 4, 3, 1
STRONG_WEIGHT = 3
"""The weight from which a decision is certainly about the file. The stem of a name may be an ordinary word, and an
exchange may have had several subjects. Not measured.
"""


class Identifiers(NamedTuple):
    """The identifiers that edits introduced. `plain` ones are ordinary words that the edits define."""

    coded: frozenset[str]
    plain: frozenset[str]


def introduced_identifiers(edits: Iterable[EditText]) -> Identifiers:
    """Return the identifiers in the new text of edits that are not in the text which it replaced."""
    words: set[str] = set()
    defined: set[str] = set()
    for edit in edits:
        for piece in edit.pieces:
            new = piece.new[:_LONGEST_TEXT]
            own_words = set(_WORD.findall(new)) - set(_WORD.findall(piece.old[:_LONGEST_TEXT]))
            words |= own_words
            defined |= own_words.intersection(_DEFINITION.findall(new))
    coded = {word for word in words if _CODE_SHAPE.search(word) and not _GENERAL.fullmatch(word)}
    return Identifiers(frozenset(coded), frozenset(defined - coded))


def words_of_line(identifiers: Identifiers, line: str) -> Identifiers:
    """Return those identifiers that a line contains."""
    words = set(_WORD.findall(line))
    return Identifiers(identifiers.coded & words, identifiers.plain & words)


def name_links(text: str, path: str) -> list[Link]:
    """Return the link of a text that names the file: by its name, or else by its name without the extension."""
    base_name = path.rpartition("/")[2]
    for match in re.finditer(rf"(?<![\w-]){re.escape(base_name)}(?![\w-])", text, re.IGNORECASE):
        directory = _DIRECTORY.search(text[max(0, match.start() - _LONGEST_DIRECTORY) : match.start()])
        named_path = f"/{directory[0] if directory else ''}{base_name}".replace("/./", "/").casefold()
        if f"/{path}".casefold().endswith(named_path) or named_path.endswith(f"/{path}".casefold()):
            return [Link("names the file", FULL_NAME_WEIGHT)]
    stem = base_name.rpartition(".")[0]
    if len(stem) >= _SHORTEST_STEM and re.search(rf"(?<![\w/.-]){re.escape(stem)}(?![\w/-]|\.\w)", text, re.IGNORECASE):
        return [Link(f"names {stem}", STEM_WEIGHT)]
    return []


def identifier_links(text: str, identifiers: Identifiers) -> list[Link]:
    """Return the link of a text that names identifiers."""
    marked = {word for match in _MARKED.finditer(text) for word in match.groups() if word}
    named = [*dict.fromkeys(word for word in _WORD.findall(text) if _is_named(word, identifiers, marked))]
    label = ", ".join(f"`{word}`" for word in named[:_MOST_NAMED])
    return [Link(f"names {label}", IDENTIFIER_WEIGHT)] if named else []


def _is_named(word: str, identifiers: Identifiers, marked: Collection[str]) -> bool:
    return word in identifiers.coded or (word in marked and word in identifiers.plain)
