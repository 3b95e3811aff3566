"""Extraction of statements from a text: sentences, list items and configuration lines, each with its position.

Pure. Knows the forms of text in sessions and documents (fences, quotes, lists, tables, diffs, commit messages, program
output), but not their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from palazzo.frozen_class import frozen
from palazzo.text.lazy_patterns import make_regex

Setting = Literal["prose", "item", "done", "open", "entry"]
"""The context of words: a sentence, a list item, a ticked checkbox, an unticked checkbox, a line of configuration."""

COMMIT = "commit"
"""The heading of the words of a commit message."""
LONGEST = 400
"""Maximum characters of a sentence: a longer one is not a statement but a dump."""
_LONGEST_LINE = 2_000

_FENCE = make_regex(r"\s{0,6}(`{3,}|~{3,})\s*([\w+-]*)")
_HEADING = make_regex(r"\s{0,3}#{1,6}\s+(\S.*)")
_ITEM = make_regex(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[([ xX])\]\s+)?(?=\S)")
_COMMIT = make_regex(r"commit [0-9a-f]{7,40}\b")
_PROMPT = make_regex(r"\s*(?:[\w.@-]+:[~/\w.-]*)?[$%]\s+(\S.*)")
_ENTRY_LIKE = make_regex(
    r"""\s*(?:(?:-\s+)?["']?[A-Za-z_/*@][\w./@*-]*(?:\ [\w./@-]+){0,3}["']?\s*[:=]"""  # key: value
    r"|[\w./@*-]+(?:\s{2,}|\t)\s*\S|[A-Za-z][\w-]*(?:\ [\w-]+){0,2}\ (?:on|off|yes|no|true|false|\d+[a-z]?);?$|\{\s*\"|-\s+\"?\d+:|(?:FROM|EXPOSE|ENV|listen|root|user|workers?)\s|[A-Za-z][\w-]+\s+(?:version\s+)?v?\d+\.\d)"
)
_CONFIGURATION = frozenset(
    "yaml yml toml ini json jsonc json5 conf config cfg env dotenv properties hcl terraform tf nginx text txt".split()
)
_COMMENT = make_regex(r"\s*(?:#(?!!)|//|--\s|;|<!--|/?\*)")
_END = make_regex(r"(?:[.!?…]+[)\"'”»*_]*(?=\s)|\n\s*\n)")
_ABBREVIATION = make_regex(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|ca|no|nr|fig|sec|mr|ms|dr|st|inc|incl|z\.\s?B|d\.\s?h|bzw|resp|p\.ex|ej|art"
    r"|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec)|\b[A-Z])\.$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Statement:
    """Words of a text, their position, and the surrounding words that identify their subject.

    `text` is on one line; `start` and `end` are its position. `heading` is the heading above it. For an entry, the
    command that printed it and the adjacent lines are kept too (`context_lines`), because a line of configuration has
    the subject of its file. `aside` says that the next sentence changes the subject ("anyway", "come on").
    `parent_keys` are the keys above an entry, the outermost first.
    """

    text: str
    start: int
    end: int
    setting: Setting
    heading: str = ""
    context_lines: frozenset[str] = frozenset()
    aside: bool = False
    parent_keys: tuple[str, ...] = ()

    @cached_property
    def lowercase_text(self) -> str:
        """Return its text in lower case."""
        return self.text.lower()

    def mentions(self, cues: Iterable[str]) -> bool:
        """Return whether the text contains one of these words or word beginnings: fast, where a pattern is slow."""
        lowercase_text = self.lowercase_text
        for cue in cues:  # noqa: SIM110 - a generator costs more than all the rest
            if cue in lowercase_text:
                return True
        return False


@frozen
class _Line:
    text: str
    start: int


def statements(text: str, role: str) -> Iterator[Statement]:
    """Yield what a text states, in order. Quotes, code and log lines are left out, and of tables all but the rows of
    those with two columns.

    A tool's output has entries only, and the text of commit messages.
    """
    if role == "tool":
        yield from _parse_output(text)
    else:
        yield from _parse_prose(text)


# --- what people and agents write --------------------------------------------------------------------------


def _parse_prose(text: str) -> Iterator[Statement]:
    heading = ""
    paragraph: list[_Line] = []
    block: list[_Line] | None = None
    fence, configuration = "", False
    lines = list(_lines(text))
    heads = {line.start for line, next_line in pairwise(lines) if _RULE.match(next_line.text)}
    for line in lines:
        fence_match = _FENCE.match(line.text)
        if block is not None:
            if fence_match and line.text.strip().startswith(fence):
                if configuration:
                    yield from _entries(block, heading)
                block = None
            else:
                block.append(line)
            continue
        row = _ROW.match(line.text) if line.text.count("|") == _BARS else None
        if row is not None:
            yield from _sentences(text, paragraph, heading)
            paragraph = []
            if line.start not in heads:
                label, value = row[1].rstrip(), row[2].rstrip()
                end = line.start + row.start(2) + len(value)
                yield Statement(f"{label}: {value}", line.start + row.start(1), end, "item", heading)
            continue
        shape = _shape(line.text)
        if shape == "words" and not fence_match:
            paragraph.append(line)
            continue
        yield from _sentences(text, paragraph, heading)
        paragraph = []
        if fence_match:
            block, fence, configuration = [], fence_match[1], fence_match[2].casefold() in _CONFIGURATION
        elif shape == "heading":
            heading = line.text.strip(" #\t")
        elif shape == "item":
            paragraph = [line]
    yield from _sentences(text, paragraph, heading)


_ROW = make_regex(r"(?![\s:|-]+$)\s*\|\s*([^|\s][^|]*)\|\s*([^|\s][^|]*)\|\s*$")
_BARS = 3
"""Bars in a row of a table with two columns: in a wider table it is not clear which column is valid."""
_RULE = make_regex(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*$")


def _shape(line: str) -> str:
    """Classify a line of prose: `words`, `item`, `heading`, or `nothing` if it is not the author's statement."""
    content = line.lstrip()
    if not content or len(line) > _LONGEST_LINE:
        return "nothing"
    if content[0] in ">|<+" or content.startswith(
        ("[![", "#!", "$ ", "// ", "/*", "---", "===", "diff ", "@@ ", "Traceback")
    ):
        return "nothing"
    if _HEADING.match(line):
        return "heading"
    if _ITEM.match(line):
        return "item"
    return "words"


def _sentences(text: str, lines: list[_Line], heading: str) -> Iterator[Statement]:
    if not lines:
        return
    if len(lines) > 1 and all(_LABEL_LINE.match(line.text) for line in lines):
        for line in lines:
            own = line.text.strip()
            at = line.start + len(line.text) - len(line.text.lstrip())
            yield Statement(own, at, at + len(own), "item", heading)
        return
    item = _ITEM.match(lines[0].text)
    setting: Setting = "prose" if item is None else _BOXES.get(item[1] or "", "item")
    start = lines[0].start + (item.end() if item else 0)
    end = lines[-1].start + len(lines[-1].text)
    sentences = list(_split(text[start:end], start))
    for n, (own, at) in enumerate(sentences):
        next_sentence = sentences[n + 1][0] if n + 1 < len(sentences) else ""
        if own and len(own) <= LONGEST:
            whole = " ".join(own.split())
            yield Statement(whole, at, at + len(own), setting, heading, aside=_ASIDE.match(next_sentence) is not None)


_BOXES: dict[str, Setting] = {"x": "done", "X": "done", " ": "open"}
_LABEL_LINE = make_regex(r"\s*\**[A-Z][\w /-]{1,40}\**: \S")
_ASIDE = make_regex(r"(?:anyway|anyhow|come on|just kidding|kidding|jk|lol)\b", re.IGNORECASE)


def _split(text: str, offset: int) -> Iterator[tuple[str, int]]:
    begin = 0
    for mark in _END.finditer(text):
        if mark[0] == "." and _ABBREVIATION.search(text[max(begin, mark.end() - 8) : mark.end()]):
            continue
        yield _strip_span(text, begin, mark.end(), offset)
        begin = mark.end()
    if begin < len(text):
        yield _strip_span(text, begin, len(text), offset)


def _strip_span(text: str, begin: int, end: int, offset: int) -> tuple[str, int]:
    part = text[begin:end]
    return part.strip(), offset + begin + len(part) - len(part.lstrip())


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield _Line(line.rstrip("\r\n"), start)
        start += len(line)


# --- what programs print -----------------------------------------------------------------------------------


def _parse_output(text: str) -> Iterator[Statement]:
    """Yield the entries of printed configuration, and the sentences of a commit's message."""
    lines = list(_lines(text))
    message = [
        _Line(line.text[4:], line.start + 4)
        for line in lines
        if line.text.startswith("    ") and _COMMIT.match(text)
    ]  # fmt: skip
    if message:
        yield from _written_lines(text, message)
    yield from _entries([line for line in lines if not line.text.startswith("    ") or not message], "")


def _written_lines(text: str, message: list[_Line]) -> Iterator[Statement]:
    """Sentences of a commit message, whose lines are indented in the text."""
    paragraph: list[_Line] = []
    for line in [*message, _Line("", 0)]:
        if line.text.strip() and not (_ITEM.match(line.text) and paragraph):
            paragraph.append(line)
            continue
        if paragraph:
            yield from _sentences(text, paragraph, COMMIT)
        paragraph = [line] if line.text.strip() else []


def _entries(block: list[_Line], heading: str) -> Iterator[Statement]:
    """Yield the entries of a block, each with the lines beside it; for a diff, those that it adds."""
    is_diff = any(line.text.startswith("@@ ") for line in block)
    entries: list[tuple[_Line, re.Match[str] | None]] = []
    context_lines: set[str] = set()
    for line in block:
        own = line.text
        command = _PROMPT.match(own)
        if command is not None:
            context_lines.add(f"$ {command[1].strip()}")
            continue
        if len(own) > LONGEST or (is_diff and own.startswith("-")):
            continue
        if _COMMENT.match(own):
            context_lines.add(" ".join(own.split()))
            continue
        if is_diff and own.startswith("+"):
            line = _Line(own[1:], line.start + 1)
        entries.append((line, _ENTRY_LIKE.match(line.text)))
        if line.text.strip():
            context_lines.add(" ".join(line.text.split()))
    if len(entries) > _LONGEST_BLOCK:
        return
    shared = frozenset(context_lines)
    above: list[tuple[int, str]] = []
    for line, entry in entries:
        indent = len(line.text) - len(line.text.lstrip())
        section = _SECTION.match(line.text)
        if line.text.strip():
            above = [ancestor for ancestor in above if ancestor[0] < indent]
        if section is not None:
            if section["ini"]:
                above = []
            key = (-1 if section["ini"] else indent, (section["ini"] or section["key"]).casefold())
        if entry is not None:
            own = line.text.strip()
            start = line.start + len(line.text) - len(line.text.lstrip())
            yield Statement(
                own, start, start + len(own), "entry", heading, shared, parent_keys=tuple(name for _, name in above)
            )
        if section is not None:
            above.append(key)


_SECTION = make_regex(
    r"""\s*(?:\[(?P<ini>[\w. "/-]+)\]|["']?(?P<key>[\w./@-]+(?: [\w."/@-]+)*?)["']?\s*(?::|=?\s*\{|:\s*\{))\s*$"""
)
"""A line that introduces other lines: `redis:`, `server {`, `[http]`."""
_LONGEST_BLOCK = 60
"""Maximum lines of printed configuration: a longer block is a log or a listing."""


_HINT = make_regex(
    r"\d|/|\b(?:from|instead|rather|place|replac|supersed|no longer|stopped|any ?more|any longer|gone|drop|remov|retir"
    r"|discontinu|disabled|enabled|on|off|required|allowed|owns?|owned|maintain|responsible|renam|called|deprecat|uses?"
    r"|using|depends?|requires?|needs?|decided|agreed|decision|nicht mehr|statt|plus|lugar|vez)",
    re.IGNORECASE,
)


def may_claim(text: str, role: str) -> bool:
    """Return whether a text may contain claims: a cheap check that never misses one."""
    if role == "tool":
        return text.count("\n") < _LONGEST_BLOCK and ("=" in text or ":" in text or "  " in text)
    return _HINT.search(text) is not None
