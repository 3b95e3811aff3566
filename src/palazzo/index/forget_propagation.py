"""Forget propagation: text forgotten in a document stays forgotten in its later versions where it is unchanged.

An act addresses a stretch of one version. A later version is another item, so unchanged text in it is identified by
paragraphs: a paragraph that was forgotten whole, and stood nowhere else in that version, is left out of later versions
too. A paragraph in which a word has changed is a different paragraph, and is included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from palazzo.index import cut_material
from palazzo.index.act_overlay import ActsOnItems
from palazzo.index.cut_rules import CutItem
from palazzo.store import act_rows, items, source_rows
from palazzo.store.database import Connection

Hole = tuple[int, int]
"""Start and end of a forgotten range, in code points."""
_LINES = re.compile(r"[^\n]+\n?")


def load_version(connection: Connection, source: int, item: int) -> tuple[CutItem, ActsOnItems]:
    """Return a document's version, with holes for words forgotten in it or in former versions."""
    (cut_item,), on = cut_material.load(connection, [item])
    former = _former(connection, source, item)
    paragraphs = forgotten_paragraphs(_with_holes(connection, former)) if former else frozenset()
    more = [hole for hole in standing_in(cut_item.text, paragraphs) if hole not in cut_item.holes]
    return (replace(cut_item, holes=tuple(sorted((*cut_item.holes, *more)))) if more else cut_item), on


def forgotten_paragraphs(versions: Iterable[tuple[str, Sequence[Hole]]]) -> frozenset[str]:
    """Return the paragraphs that were forgotten whole in one of these versions, with no other copy in it."""
    paragraphs: set[str] = set()
    for text, holes in versions:
        hidden_words: set[str] = set()
        visible_words: set[str] = set()
        for words, start, end in _paragraphs(text):
            (visible_words if _has_visible_text(text, start, end, holes) else hidden_words).add(words)
        paragraphs |= hidden_words - visible_words
    return frozenset(paragraphs)


def standing_in(text: str, paragraphs: frozenset[str]) -> Iterator[Hole]:
    """Yield the ranges of these paragraphs."""
    if paragraphs:
        yield from ((start, end) for words, start, end in _paragraphs(text) if words in paragraphs)


def _paragraphs(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each range between empty lines: its words without surrounding white space, and its position."""
    begin = end = 0
    for line in _LINES.finditer(text):
        if line.start() > end or not line[0].strip():  # after an empty line, or a line of white space
            yield from _paragraph(text, begin, end)
            begin = line.start()
        end = line.end()
    yield from _paragraph(text, begin, end)


def _paragraph(text: str, begin: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield a range without the white space around it, or nothing if it is all white space."""
    words = text[begin:end].strip()
    if words:
        start = text.index(words, begin)
        yield words, start, start + len(words)


def _has_visible_text(text: str, start: int, end: int, holes: Sequence[Hole]) -> bool:
    """Return whether any text of this range, except white space, is outside the holes."""
    at = start
    for low, high in sorted(holes):
        if low >= end:
            break
        if low > at and text[at:low].strip():
            return True
        at = max(at, high)
    return bool(text[at:end].strip())


def _former(connection: Connection, source: int, item: int) -> list[int]:
    """Return the versions before the last time that this one was current, without it, each once."""
    history = [row for row, _ in source_rows.revisions(connection, source)]
    last = max((n for n, row in enumerate(history) if row == item), default=0)
    return [row for row in dict.fromkeys(history[:last]) if row != item]


def _with_holes(connection: Connection, rows: Sequence[int]) -> Iterator[tuple[str, Sequence[Hole]]]:
    """Yield the text and the forgotten ranges of each item with forgotten text."""
    uids = {bytes.fromhex(uid): row for row, uid in items.item_ids(connection, rows).items()}
    on = ActsOnItems(act_rows.acts_on(connection, uids))
    for uid, row in uids.items():
        holes = on.holes(uid)
        if holes:
            yield items.read_texts(connection, [row])[row], holes
