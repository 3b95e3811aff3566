"""Cutting documents into sections: by their headings first, then by size.

This module owns which stretches of a document belong together. `outlines` defines the form of headings, and
`text_pieces` cuts long stretches.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from palazzo.frozen_class import frozen
from palazzo.text.outlines import DocumentKind, Heading, Outline, outline_of
from palazzo.text.text_pieces import Range, split_span

__all__ = ["SECTION_LIMIT", "DocumentKind", "Section", "cut_document"]

SECTION_LIMIT = 1000
"""The most code points of a section: about 240 tokens, which is the embedder's input limit."""


@frozen
class Section:
    """`text[start:end]` in code points, under the headings `title_path`, outermost first."""

    start: int
    end: int
    title_path: tuple[str, ...]


def cut_document(text: str, kind: DocumentKind, limit: int = SECTION_LIMIT) -> list[Section]:
    """Cut a document into sections of at most `limit` code points, in order, without overlap.

    Every character that is not white space is in exactly one section. Sections follow the headings of the
    document (see `outlines`) and begin with them; longer ones are cut as `split_span` cuts, except that
    fenced code stays whole when it fits into one section. Front matter is a section of its own.

    A section under a quarter of the limit is joined with a neighbour under the same parent heading, or with
    the parent's own text, and the two get the path that they share. A heading without text of its own goes
    with what follows it. Time is linear in the length of the text.

    Raises ValueError for a limit below 1.
    """
    outline = outline_of(text, kind)
    sections: list[Section] = []
    for block in _merge_small_blocks(_with_bare_headings(_blocks(text, outline)), limit):
        fences = _select_ranges(outline.fences, block.start, block.end)
        cuts = split_span(text, block.start, block.end, limit, fences)
        sections.extend(Section(start, end, block.path) for start, end in cuts)
    return sections


@frozen
class _Block:
    """The text between two headings, including the first of them.

    `bare` says that it consists only of headings; `is_joined`, that it combines several blocks; `is_separate`, that it
    must not be combined (front matter).
    """

    start: int
    end: int
    path: tuple[str, ...]
    bare: bool = False
    is_joined: bool = False
    is_separate: bool = False


def _blocks(text: str, outline: Outline) -> Iterator[_Block]:
    first = outline.headings[0].start if outline.headings else len(text)
    if outline.front_matter:
        yield _Block(0, outline.front_matter, (), is_separate=True)
    if not _is_blank(text, outline.front_matter, first):
        yield _Block(outline.front_matter, first, ())
    ends = [heading.start for heading in outline.headings]
    above: list[Heading] = []
    for heading, end in zip(outline.headings, [*ends[1:], len(text)], strict=False):
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        path = tuple(parent.title for parent in above if parent.title)
        bare = bool(heading.title) and _is_blank(text, heading.end, end)
        yield _Block(heading.start, end, path, bare)


_NOT_SPACE = re.compile(r"\S")


def _is_blank(text: str, start: int, end: int) -> bool:
    return _NOT_SPACE.search(text, start, end) is None


def _with_bare_headings(blocks: Iterable[_Block]) -> Iterator[_Block]:
    """Join headings that have no text of their own with the sections below them."""
    pending_block: _Block | None = None
    for block in blocks:
        if pending_block is None:
            pending_block = block
        elif (
            pending_block.bare
            and len(block.path) > len(pending_block.path)
            and _shared(pending_block, block) == pending_block.path
        ):
            pending_block = _Block(pending_block.start, block.end, block.path, block.bare)
        else:
            yield pending_block
            pending_block = block
    if pending_block is not None:
        yield pending_block


def _merge_small_blocks(blocks: Iterable[_Block], limit: int) -> Iterator[_Block]:
    """Join tiny neighbours up to `limit`."""
    pending_block: _Block | None = None
    for block in blocks:
        if pending_block is None:
            pending_block = block
        elif block.end - pending_block.start <= limit and _belong_together(pending_block, block, limit // 4):
            is_preamble = not pending_block.path and not pending_block.is_joined  # what stands before the first heading
            path = block.path if is_preamble else _shared(pending_block, block)
            pending_block = _Block(pending_block.start, block.end, path, is_joined=True)
        else:
            yield pending_block
            pending_block = block
    if pending_block is not None:
        yield pending_block


def _belong_together(first: _Block, second: _Block, tiny: int) -> bool:
    if first.is_separate or second.is_separate:
        return False
    if min(first.end - first.start, second.end - second.start) >= tiny:
        return False
    return second.path[:-1] in (first.path[:-1], first.path)


def _shared(first: _Block, second: _Block) -> tuple[str, ...]:
    """Return the headings above both blocks."""
    depth = 0
    for title, other_title in zip(first.path, second.path, strict=False):
        if title != other_title:
            break
        depth += 1
    return first.path[:depth]


def _select_ranges(ranges: Sequence[Range], start: int, end: int) -> Sequence[Range]:
    return ranges[bisect_left(ranges, (start, start)) : bisect_left(ranges, (end, end))]
