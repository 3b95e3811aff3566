"""Document outlines: where the headings are, and what must not be cut.

This module owns the syntax of headings, fences and front matter in each kind of document. It is not a parser: it reads
the lines that begin like one of them and treats everything else as text. Every pattern is linear: a repetition never
backtracks over text that it has passed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from palazzo.frozen_class import frozen
from palazzo.text.lazy_patterns import make_regex

Range = tuple[int, int]

DocumentKind = Literal["markdown", "rest", "plain", "code", "config"]

LONGEST_TITLE = 200
"""The most code points of a title; a longer title is shortened in the path, never in the text."""


@frozen
class Heading:
    """The lines `start:end` that name the following text; 1 is the outermost level.

    An empty title marks the start of a part without a name.
    """

    start: int
    end: int
    level: int
    title: str


@dataclass(slots=True)
class Outline:
    """A document's headings and fenced blocks, in order, and the end of its front matter (0: it has none)."""

    headings: list[Heading] = field(default_factory=list)
    fences: list[Range] = field(default_factory=list)
    front_matter: int = 0


def outline_of(text: str, kind: DocumentKind) -> Outline:
    """Find the headings of a document of one `kind`.

    * `markdown`: `#` headings, and one-line headings underlined with `=` or `-`, outside fences; YAML (`---`)
      or TOML (`+++`) front matter.
    * `rest`: underlined or overlined titles; a style's level is the order in which it appears.
    * `plain`: none.
    * `code`: what begins at the left margin after a blank line, named by the first definition in it.
    * `config`: `[tables]` of TOML and INI, and the keys at the left margin of YAML that open a block, with
      the comment above them.
    """
    return _READERS[kind](text)


def closed_fences(text: str) -> list[Range]:
    """Return the closed fenced blocks of a Markdown text. An unclosed one would extend to the text's end."""
    return [(start, end) for start, end in outline_of(text + "\n", "markdown").fences if end <= len(text)]


# Markdown (CommonMark 0.31, sections 4.2, 4.3 and 4.5)

_FRONT_MATTER = make_regex(
    r"\ufeff?(---|\+\+\+)[ \t\r]*+\n(?=\S)"
    r"(?:(?!(?:\1|\.\.\.)[ \t\r]*+$).*+\n)*"
    r"(?:\1|\.\.\.)[ \t\r]*+(?:\n|\Z)",
    re.MULTILINE,
)
_MARKDOWN_MARK = make_regex(
    r"^\ufeff?(?:(?P<fence>[ \t]*+(?:`{3,}+|~{3,}+))(?P<info>.*+)"
    r"|[ ]{0,3}+(?P<hashes>\#{1,6}+)(?P<title>[ \t].*+|\r?)$"
    r"|[ ]{0,3}+(?P<rule>=++|-++)[ \t\r]*+$)",
    re.MULTILINE,
)
_CLOSING_HASHES = make_regex(r"(?:^|[ \t])#+$")
_NO_TITLE = make_regex(r"[ ]{4}|\t|[ ]{0,3}(?:[>|]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])")


def _markdown(text: str) -> Outline:
    front = _FRONT_MATTER.match(text)
    outline = Outline(front_matter=front.end() if front else 0)
    fence_start, fence = 0, ""
    floor = outline.front_matter
    for mark in _MARKDOWN_MARK.finditer(text, floor):
        if mark["fence"]:
            sign, info = mark["fence"].lstrip(), mark["info"]
            if fence:
                if sign.startswith(fence) and not info.strip():
                    outline.fences.append((fence_start, mark.end()))
                    fence, floor = "", mark.end()
            elif "`" not in info or sign[0] == "~":
                fence_start, fence = mark.start(), sign
        elif not fence:
            heading = _hash_heading(mark) if mark["hashes"] else _underline_heading(text, mark, floor)
            if heading:
                outline.headings.append(heading)
                floor = mark.end()
    if fence:
        outline.fences.append((fence_start, len(text)))
    return outline


def _hash_heading(mark: re.Match[str]) -> Heading:
    title = _CLOSING_HASHES.sub("", mark["title"][: LONGEST_TITLE * 2].strip()).strip()
    return Heading(mark.start(), mark.end(), len(mark["hashes"]), title[:LONGEST_TITLE])


def _underline_heading(text: str, mark: re.Match[str], floor: int) -> Heading | None:
    """Return the heading above a line of `=` or `-`: one line of text that is no list item, quote, table or code."""
    start = _line_before(text, mark.start(), floor)
    title = text[start : mark.start()]
    if not title.strip(" \t\r\n-=*_") or _NO_TITLE.match(title) or not _opens_paragraph(text, start, floor):
        return None
    return Heading(start, mark.end(), 1 if mark["rule"][0] == "=" else 2, _tidy(title))


def _tidy(title: str) -> str:
    return title.strip().lstrip("\ufeff")[:LONGEST_TITLE]


def _line_before(text: str, line: int, floor: int) -> int:
    """Return the start of the line before the one at `line`, not before `floor`."""
    return max(text.rfind("\n", floor, max(floor, line - 1)) + 1, floor)


def _opens_paragraph(text: str, line: int, floor: int) -> bool:
    return not text[_line_before(text, line, floor) : line].strip()


# reStructuredText (docutils, "Sections")

_ADORNMENT = make_regex(r"^([!-/:-@\[-`{-~])\1++[ \t\r]*+$", re.MULTILINE)


def _rest(text: str) -> Outline:
    outline = Outline()
    levels: dict[tuple[str, bool], int] = {}
    floor = 0
    for line in _ADORNMENT.finditer(text):
        start = _line_before(text, line.start(), floor)
        title = text[start : line.start()].rstrip()
        over = _line_before(text, start, floor)
        has_overline = start > over and text[over:start].strip() == line[0].strip()
        if not _is_rest_title(title, line[0].rstrip(), has_overline):
            continue
        if not has_overline and not _opens_paragraph(text, start, floor):
            continue
        level = levels.setdefault((line[1], has_overline), len(levels) + 1)
        begin = over if has_overline else start
        outline.headings.append(Heading(begin, line.end(), level, _tidy(title)))
        floor = line.end()
    return outline


def _is_rest_title(title: str, adornment: str, has_overline: bool) -> bool:
    """Whether a title is valid: docutils accepts an underline shorter than it from four characters on."""
    if not title.strip() or (title[0].isspace() and not has_overline):
        return False
    return len(adornment) >= min(len(title), 4) and _ADORNMENT.fullmatch(title) is None


# Everything else


def _plain(text: str) -> Outline:
    return Outline()


_AT_MARGIN = make_regex(r"(?<=\n)[ \t\r]*+\n(?=[^\s)\]}])|\A(?=\S)")
_DEFINITION = make_regex(
    r"^(?:(?:export|default|declare|public|private|protected|internal|static|abstract|final|async|unsafe|const"
    r"|pub(?:\([a-z]+\))?)[ \t]+)*"
    r"(?:def|class|func|fn|fun|function\*?|struct|enum|trait|impl|interface|type|module|namespace|record)"
    r"[ \t]+(?:\([^)\n]*+\)[ \t]*+)?([A-Za-z_$][\w$]*+)",
    re.MULTILINE,
)


def _code(text: str) -> Outline:
    starts = [match.end() for match in _AT_MARGIN.finditer(text)]
    headings: list[Heading] = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=False):
        definition = _DEFINITION.search(text, start, end)
        headings.append(Heading(start, start, 1, definition[1][:LONGEST_TITLE] if definition else ""))
    return Outline(headings)


_CONFIG_MARK = make_regex(
    r"^(?=[#;\[A-Za-z_\"'])(?:[#;].*+(?:\n|\Z))*"
    r"(?:\[{1,2}+([^\[\]\n]++)\]{1,2}+[ \t\r]*+(?:[#;].*+)?$|([\w.\"'-]++)[ \t]*+:[ \t\r]*+(?:\#.*+)?$)?",
    re.MULTILINE,
)


def _config(text: str) -> Outline:
    marks = ((mark, mark[1] or mark[2]) for mark in _CONFIG_MARK.finditer(text))
    return Outline(
        [Heading(mark.start(), mark.end(), 1, title.strip(" \t\"'")[:LONGEST_TITLE]) for mark, title in marks if title]
    )


_READERS: dict[DocumentKind, Callable[[str], Outline]] = {
    "markdown": _markdown,
    "rest": _rest,
    "plain": _plain,
    "code": _code,
    "config": _config,
}
