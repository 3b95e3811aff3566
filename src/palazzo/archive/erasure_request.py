"""An erasure request holds the words and the stretches of items that a user wants to erase."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from palazzo.frozen_class import frozen
from palazzo.store import items, tombstones
from palazzo.store.database import Connection
from palazzo.text.hashed_words import ANYWHERE, AS_WORDS, COVER, Finder, HashedWords, MatchMode, Range

LEAST_ANYWHERE = 12
"""Minimum length in code points for an erased text to be searched for everywhere. Shorter texts are too common; they
are recognized only where they are the whole text of the same moment.
"""
LEAST_PARAGRAPH = 40
"""Minimum length in code points for a paragraph of a document or note to be searched for separately too: other versions
contain it among other words. Text of a conversation is searched for only as a whole; otherwise the files that an agent
read in it would lose their words.
"""
LEAST_INSIDE = 8
"""Minimum length in code points for a matched text to be found inside other words. Shorter texts that matched as whole
words are searched for as whole words.
"""
COMMON = 3
"""Maximum number of other sources that contain a text from an erased place for it to be erased there too. Text in more
sources is not a copy but common program output, and is kept.
"""
_AT_ONCE = 64
_BLANK_LINES = re.compile(r"\n\s*\n")


@frozen
class ErasureRequest:
    """What to erase: texts and how they must match, and ranges of items by row id.

    `known` are texts erased by another device, from which only hashes arrived.
    """

    words: Mapping[str, MatchMode] = field(default_factory=dict)
    spans: Mapping[int, tuple[Range, ...]] = field(default_factory=dict)
    foreign_hashes: tuple[HashedWords, ...] = ()
    remaining_count: int = 0
    """Number of texts at erased places that occur in many other sources and are kept there."""


def matched_words(matches: Mapping[str, bool]) -> ErasureRequest:
    """Return the erasure request of a pattern: the words it matched, and whether each was always a whole word."""
    return ErasureRequest(
        {
            words: AS_WORDS if is_whole_word and len(words) < LEAST_INSIDE else ANYWHERE
            for words, is_whole_word in matches.items()
        }
    )


def places(connection: Connection, spans: Mapping[int, Sequence[Range]]) -> ErasureRequest:
    """Return the erasure request for these ranges of items: the ranges, and copies of their words elsewhere."""
    finder = tombstones.fresh_finder(connection)
    texts = items.read_texts(connection, spans)
    units: dict[str, MatchMode] = {}
    for row, ranges in spans.items():
        has_paragraphs = items.kind_of(connection, row) in ("document", "note")
        for start, end in ranges:
            units.update(dict.fromkeys(_units(texts[row][start:end], has_paragraphs), ANYWHERE))
    own = {source_of_item(connection, row) for row in spans}
    common = _common(connection, Finder(finder.key, [finder.hash_words(words) for words in units]), own)
    targets = {words: mode for words, mode in units.items() if words not in common}
    return ErasureRequest(
        targets, {row: tuple(ranges) for row, ranges in spans.items()}, remaining_count=len(units) - len(targets)
    )


def _units(text: str, has_paragraphs: bool) -> Iterator[str]:
    """Yield the texts to look for elsewhere: the whole erased place, and each paragraph if it was `has_paragraphs`."""
    whole = text.strip()
    if len(whole) >= LEAST_ANYWHERE and COVER not in whole:
        yield whole
    for paragraph in _BLANK_LINES.split(whole) if has_paragraphs else ():
        if len(paragraph.strip()) >= LEAST_PARAGRAPH and COVER not in paragraph:
            yield paragraph.strip()


def _common(connection: Connection, finder: Finder, own: set[int]) -> set[str]:
    """Return the words that occur in more than COMMON sources besides their own."""
    if not finder:
        return set()
    sources_by_words: dict[str, set[int]] = {}
    for batch in item_batches(connection, 0):
        texts = items.read_texts(connection, [row for row, _ in batch])
        for n in finder.suspects([texts[row] for row, _ in batch]):
            row, source = batch[n]
            if source not in own:
                for start, end in finder.find_parts(texts[row]):
                    sources_by_words.setdefault(texts[row][start:end], set()).add(source)
    return {words for words, source_ids in sources_by_words.items() if len(source_ids) > COMMON}


def finder_of(connection: Connection, request: ErasureRequest) -> Finder:
    """Return the finder of the wanted words."""
    blank = tombstones.fresh_finder(connection)
    word_hashes = [blank.hash_words(words, mode) for words, mode in request.words.items()]
    return Finder(blank.key, [*word_hashes, *request.foreign_hashes])


def item_batches(connection: Connection, last_row: int) -> Iterator[list[tuple[int, int]]]:
    """Yield all items after a row id, in batches, as (row id, source)."""
    while batch := [
        (int(row), int(source))
        for row, source in connection.execute(
            "SELECT id, source FROM item WHERE id > ? ORDER BY id LIMIT ?", (last_row, _AT_ONCE)
        )
    ]:
        yield batch
        last_row = batch[-1][0]


def source_of_item(connection: Connection, row: int) -> int:
    """Return the source of an item."""
    return int(next(connection.execute("SELECT source FROM item WHERE id = ?", (row,)))[0])
