"""Where hits are: a path and a line, or a host, a session and a turn; the sentence to show; and short ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from palazzo.archive.archive_reader import short_session
from palazzo.text.best_sentence import find_best_sentence
from palazzo.text.document_formats import has_converted_format
from palazzo.text.sentences import Sentence
from palazzo.text.word_forms import terms

if TYPE_CHECKING:
    from palazzo.index.presentation import Turn
    from palazzo.model import Drawer
    from palazzo.store.database import Connection

SHORTEST_ID = 8
"""The digits of an id that a person reads: 32 bits, beyond which ids of one palace seldom begin alike."""
_WORD = re.compile(r"[^\W_]+")
_LINES = re.compile(r"lines? (\d+)")
_SAME_BEGINNING = 3
"""The first letters that a word shares with a word of the query if they have one stem. (Stemming changes endings.)"""
_ANSWER_SHARE = 0.5
"""The least worth of an answer's best sentence, compared with the question's, for the answer to be quoted."""


class Location(NamedTuple):
    """Where a drawer is. `path` is empty and `line` is None if it is not a part of a document with lines."""

    label: str
    path: str = ""
    line: int | None = None


def locate(connection: Connection, drawer: Drawer, offset: int) -> Location:
    """Return where the character `offset` of a drawer's text is."""
    source = drawer.source
    if source.session_id:
        parts = (source.kind, short_session(connection, source.session_id), drawer.locator)
        return Location(" · ".join(filter(None, parts)))
    if source.kind != "document":
        return Location(f"{drawer.place.wing}/{drawer.place.room}")
    path = source.key[-1]
    first = _LINES.match(drawer.locator)
    if first is None or has_converted_format(
        PurePosixPath(path)
    ):  # the lines of a converted text are not those of the file
        return Location(path, path)
    is_whole = len(drawer.spans) == 1  # else something between the spans was forgotten, or is not theirs
    line = int(first[1]) + (drawer.text.count("\n", 0, offset) if is_whole else 0)
    return Location(f"{path}:{line}", path, line)


def find_matched_words(connection: Connection, query: str, texts: Iterable[str]) -> frozenset[str]:
    """Return the words of some texts, in lower case, that have the stem of a word of the query."""
    search_terms = [part.casefold() for term in terms(query) for part in _WORD.findall(term)]
    search_stems = {stem for term in search_terms for stem in connection.stems(term)}
    beginnings = tuple({term[:_SAME_BEGINNING] for term in search_terms})
    words = {word.casefold() for text in texts for word in _WORD.findall(text)}
    return frozenset(
        word
        for word in words
        if (word.startswith(beginnings) and search_stems.issuperset(connection.stems(word)))
        or (not word.isascii() and any(term in word for term in search_terms if not term.isascii()))
    )


def find_quote(text: str, turns: Sequence[Turn], words: frozenset[str], as_prose: bool) -> Sentence:
    """Return the sentence of a hit to show first. Of a question and its answer, this is the answer's if it fits."""
    best, value = find_best_sentence(text, words, as_prose)
    asking = next((turn for turn in turns if turn.start <= best.start < turn.end and turn.role == "user"), None)
    if asking is None:
        return best
    for turn in turns:
        if turn.start >= asking.end and turn.role != "user":
            answer, answer_value = find_best_sentence(text[turn.start : turn.end], words, as_prose)
            if answer_value and answer_value >= _ANSWER_SHARE * value:
                return Sentence(answer.text, turn.start + answer.start, turn.start + answer.end)
    return best
