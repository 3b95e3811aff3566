"""The sentence of a text that says most of what was asked, and the blocks around it. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple

from palazzo.text.sentences import Sentence, sentences

BlockKind = Literal["prose", "heading", "line"]
_WORD = re.compile(r"[^\W_]+")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]")
_ITEM = re.compile(r"[ \t]*(?:>|[-*+•][ \t]|\d{1,2}[.)][ \t]|:\w+:(?!`))")
_RULE = re.compile(r"[ \t]*+(?:([=\-~^\"'`*+#:.])\1{2,}[ \t]*|(?=[|:\-+= ]*-{3})[|:\-+= ]*+)$")
"""A line that underlines a heading, or separates a table's head from its rows."""
_UNDERLINE = re.compile(r"([=\-~^\"'`*+#:.])\1{2,}")
_DIRECTIVE = re.compile(r"[ \t]*\.\. (?:_|\w[\w:-]*::)")
"""A directive or a target of reStructuredText: it says what follows, as a heading does."""
_WRAPPED = 50
"""The length from which a line of prose was probably broken by an editor, so that the next line continues it."""
_LEAST_WRAPPED, _WIDTH = 20, 72
"""A shorter line was broken as well if the next word, an address for example, did not fit into this width."""
_SHARES: Mapping[BlockKind, float] = {"prose": 1.0, "line": 0.6, "heading": 0.3}
"""The worth of a word by its block. A sentence says more than a row of a table, and a hit's heading is shown anyway."""


class Block(NamedTuple):
    """A paragraph, a heading, or a line that stands for itself (of code, a table or a log); half-open."""

    start: int
    end: int
    kind: BlockKind


def split_blocks(text: str, is_prose: bool = True) -> Iterator[Block]:
    """Yield the blocks of a text. Without `is_prose`, each line that is not empty is one."""
    at, start, last, is_code = 0, -1, "", False
    lines = text.split("\n")
    for line, next_line in zip(lines, [*lines[1:], ""], strict=True):
        end = at + len(line)
        is_fence = _FENCE.match(line) is not None and (is_code or not _underlines(line, last))
        is_wrapped = start >= 0 and _is_wrapped(last, line)
        is_indented = line.startswith(("    ", "\t")) and not (is_wrapped and not last.endswith(":"))  # code, not prose
        is_alone = not is_prose or is_code or is_fence or line.startswith("|") or is_indented or _RULE.match(line)
        is_title = _HEADING.match(line) is not None or (start < 0 and _underlines(next_line, line))
        is_heading = not is_alone and (is_title or (len(line) < _WRAPPED and _DIRECTIVE.match(line) is not None))
        continues = is_wrapped and not is_alone and not is_heading and bool(line.strip()) and not _ITEM.match(line)
        if start >= 0 and not continues:
            yield Block(start, at - 1, "prose")
            start = -1
        if is_fence and is_prose:
            is_code = not is_code
        elif line.strip() and not (is_prose and _RULE.match(line)):
            if is_alone or is_heading:
                yield Block(at, end, "heading" if is_heading else "line")
            elif start < 0:
                start = at
        at, last = end + 1, line
    if start >= 0:
        yield Block(start, len(text), "prose")


def _underlines(line: str, title: str) -> bool:
    """Return whether a line is the underline of a heading: one mark, repeated over the whole length of the title."""
    row, name = line.rstrip(), title.rstrip()
    return len(row) >= max(len(name), 3) and bool(name) and name[0].isalnum() and _UNDERLINE.fullmatch(row) is not None


def _is_wrapped(line: str, next_line: str) -> bool:
    """Return whether an editor probably broke a line of prose, so that the next one continues it."""
    first_word = next_line.lstrip().partition(" ")[0]
    return len(line) >= _WRAPPED or (len(line) >= _LEAST_WRAPPED and len(line) + len(first_word) >= _WIDTH)


def joined_text(text: str, block: Block) -> str:
    """Return a block's text on one line, each character at its own offset."""
    return text[block.start : block.end].replace("\n", " ")


def find_best_sentence(text: str, words: Collection[str], is_prose: bool = True) -> tuple[Sentence, float]:
    """Return the sentence with most of `words`, those that are rare in the text first, and what it is worth.

    `words` are folded to lower case. Without any of them, the first sentence that is no heading is returned.
    """
    wanted_words = set(words)
    blocks = sorted(split_blocks(text, is_prose), key=lambda block: block.kind == "heading")
    matching_blocks = [block for block in blocks if wanted_words & _words(text[block.start : block.end])]
    parts = [
        (Sentence(part.text, block.start + part.start, block.start + part.end), block.kind)
        for block in matching_blocks or blocks[:1]
        for part in _parts(joined_text(text, block), block.kind)
    ]
    if not parts:
        return Sentence(text.strip(), 0, len(text)), 0.0
    matches = [_words(part.text) & wanted_words for part, _ in parts]
    counts = Counter(word for part_words in matches for word in part_words)
    values = [
        sum(counts[word] ** -0.5 for word in part_words) * _SHARES[kind]
        for part_words, (_, kind) in zip(matches, parts, strict=True)
    ]
    best = max(range(len(parts)), key=lambda n: (values[n], -n))  # headings are the last of the parts
    return parts[best][0], values[best]


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def _parts(line: str, kind: BlockKind) -> Iterator[Sentence]:
    if kind == "line":
        words = line.strip()
        start = line.index(words)
        yield Sentence(words, start, start + len(words))
    else:
        yield from sentences(line)
