"""Quoted, pasted and fenced stretches of a person's message, which someone else wrote. Pure.

The rules examine lines. They prefer to treat too much as quoted: then some of the person's words count for less, but
untrusted words never count as the person's. A block counts as the person's own if the lines before it say so ("my own
ticket says:").

    fence     ``` and ~~~ blocks, closed or not; <details>, <blockquote>, <document> and the like
    quote     lines with `>`, and those that follow without a blank line
    mail      from headers, a forwarding line or "On … wrote:" to the end of the message; also fields of a ticket
    chat      lines of several speakers
    log       lines with a time or a level, output after a shell prompt, blame, stack traces
    pasted    text that a host marks as pasted; text after "the vendor writes:"
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from palazzo.security import quotation_patterns as forms
from palazzo.text.lazy_patterns import make_regex

QuoteKind = Literal["fence", "quote", "mail", "chat", "log", "pasted", "code"]


class Quotation(NamedTuple):
    """A part that is not the person's own statement: its position and its form.

    `code` is program text, a diff or test output: quoted like the rest, but it rarely addresses anyone.
    """

    start: int
    end: int
    kind: QuoteKind


_LONGEST_LINE = 2_000
"""The most characters of a line that the rules examine."""
_MARKS = make_regex('["“«„]')
_LOOKAHEAD = 12
"""Lines that are examined for alternating speakers. Limits the time for a long list."""


class _Line(NamedTuple):
    start: int
    end: int
    text: str


@lru_cache(maxsize=64)
def quotations(text: str) -> tuple[Quotation, ...]:
    """Return the ranges of a person's message that are not the person's own words, sorted and not overlapping."""
    return tuple(_Reading(text).read())


class _Reading:
    """Reads a message line by line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = _lines_of(text)
        self._said: list[str] = []
        """The person's own lines since the last block: they say who wrote the next block."""

    def read(self) -> list[Quotation]:
        stretches: list[Quotation] = []
        n = 0
        while n < len(self._lines):
            block = self._block(n)
            if block is None:
                stretches += self._inline(self._lines[n])
                n += 1
                continue
            end, kind = block
            while end > n + 1 and not self._lines[end - 1].text.strip():
                end -= 1
            if not self._is_own():
                stretches.append(Quotation(self._lines[n].start, self._lines[end - 1].end, kind))
            self._said = []
            n = end
        return self._with_text_pointed_back_at(stretches)

    def _inline(self, line: _Line) -> list[Quotation]:
        """Record one of the person's lines; return its words in quotation marks after "the vendor says"."""
        if line.text.strip():
            self._said.append(line.text)
        if not _MARKS.search(line.text) or _claims(line.text):
            return []
        places = (match.span("words") for match in forms.INLINE.finditer(line.text))
        return [Quotation(line.start + start, line.start + end, "quote") for start, end in places]

    def _with_text_pointed_back_at(self, stretches: list[Quotation]) -> list[Quotation]:
        """Treat all text before the last paragraph as quoted if that says so: "^ posted under our release notes"."""
        body = self._text.rstrip()
        at = body.rfind("\n\n")
        last = body[at + 2 :] if at > 0 else ""
        if not last or (stretches and stretches[-1].end > at) or not forms.POINTS_BACK.match(last[:400]):
            return stretches
        if _claims(last):
            return stretches
        return [Quotation(0, at, "pasted")]

    def _is_own(self) -> bool:
        """Whether the lines before a block say that the person wrote it."""
        lines_before = " ".join(self._said[-3:])
        return _claims(lines_before) and not forms.DISOWNS.search(lines_before)

    def _block(self, n: int) -> tuple[int, QuoteKind] | None:
        """Return the end and kind of the block that begins at line `n`; None if none begins there."""
        line = self._lines[n].text
        if fence := forms.FENCE.match(line):
            return self._read_fence(n, fence)
        if tag := forms.TAG.match(line):
            return self._tag_end(n, tag["name"].lower()), "fence"
        if forms.PASTE_MARK.match(line):
            return len(self._lines), "pasted"
        if forms.QUOTE.match(line):
            return self._paragraph(n), "quote"
        if forms.FORWARDS.match(line) or forms.WROTE.match(line) or self._has_fields(n):
            return len(self._lines), "mail"
        if forms.TRACKER.search(line):
            return len(self._lines), "pasted"
        return self._read_chat(n) or self._read_output(n) or self._read_introduced_text(n)

    def _read_fence(self, n: int, fence: re.Match[str]) -> tuple[int, QuoteKind]:
        mark, language = fence["mark"], fence["language"].strip().split(" ")[0].lower()
        end = n + 1
        while end < len(self._lines):
            end_line = self._lines[end].text.strip()
            end += 1
            if end_line.startswith(mark) and not end_line.strip(mark[0]):
                break
        inner = [line.text for line in self._lines[n + 1 : end - 1] if line.text.strip()]
        return end, "code" if language in forms.CODE_LANGUAGES or _looks_like_code(inner) else "fence"

    def _tag_end(self, n: int, name: str) -> int:
        end_tag = f"</{name}"
        for end in range(n, len(self._lines)):
            if end_tag in self._lines[end].text.lower():
                return end + 1
        return len(self._lines)

    def _paragraph(self, n: int) -> int:
        """Return the end of the paragraph that begins at line `n`; adjacent quoted paragraphs belong together."""
        end = n
        while end < len(self._lines) and self._lines[end].text.strip():
            if forms.FENCE.match(self._lines[end].text):
                break
            end += 1
        return end

    def _has_fields(self, n: int) -> bool:
        """Whether two consecutive fields of a mail or a ticket begin here."""
        for field in (forms.MAIL_FIELD, forms.TICKET_FIELD):
            if field.match(self._lines[n].text):
                next_lines = [line.text for line in self._lines[n + 1 : n + 4] if line.text.strip()]
                if any(
                    forms.MAIL_FIELD.match(next_line) or forms.TICKET_FIELD.match(next_line) for next_line in next_lines
                ):
                    return True
        return False

    def _read_chat(self, n: int) -> tuple[int, QuoteKind] | None:
        """Return the lines of a chat: at least two with a speaker and a time, or two speakers in turn."""
        if not (self._names_speaker(n) or forms.SPEAKER.match(self._lines[n].text)):
            return None
        end, named_lines, speakers = n, 0, []
        while end < min(len(self._lines), n + _LOOKAHEAD) and (line := self._lines[end].text).strip():
            if self._names_speaker(end):
                named_lines += 1
            elif speaker := forms.SPEAKER.match(line):
                speakers.append(speaker["name"].casefold())
            end += 1
        if self._names_speaker(n):
            if named_lines > 1 or end - n > 1 or forms.SPEAKER_WITH_TIME.match(self._lines[n].text):
                return self._with_more_speakers(self._paragraph(n)), "chat"
            return None
        takes_turns = len(set(speakers)) > 1 and len(set(speakers)) < len(speakers)
        return (self._paragraph(n), "chat") if takes_turns else None

    def _names_speaker(self, n: int) -> bool:
        line = self._lines[n].text
        return any(form.match(line) for form in (forms.SPEAKER_WITH_TIME, forms.SPEAKER_IN_BRACKETS, forms.ROLE))

    def _with_more_speakers(self, end: int) -> int:
        """Extend a chat if the next speaker follows after a blank line."""
        while end < len(self._lines):
            at = end
            while at < len(self._lines) and not self._lines[at].text.strip():
                at += 1
            if at == len(self._lines) or not self._names_speaker(at):
                return end
            end = self._paragraph(at)
        return end

    def _read_output(self, n: int) -> tuple[int, QuoteKind] | None:
        """Return a program's output: log lines and the lines between them; the whole paragraph after a prompt."""
        line = self._lines[n].text
        if forms.PROMPT.match(line):
            return self._paragraph(n), "log"
        if forms.MARKUP.match(line):
            return self._paragraph(n), "fence"
        if not (forms.LOG.match(line) or forms.CODE.match(line)):
            return None
        kind: QuoteKind = "log" if forms.LOG.match(line) else "code"
        end = n + 1
        at = end
        while at < len(self._lines) and (line := self._lines[at].text).strip():
            at += 1
            if forms.LOG.match(line) or forms.CODE.match(line) or line[:1] in " \t":
                end = at
        return end, kind

    def _read_introduced_text(self, n: int) -> tuple[int, QuoteKind] | None:
        """Return the rest of the message after a line that attributes it to another person."""
        if not self._said or not self._lines[n].text.strip():
            return None
        lead = self._said[-1]
        follows_at_once = self._lines[n - 1].text.strip() != ""
        points = forms.LEADS.search(lead) is not None or (not follows_at_once and forms.POINTS.search(lead) is not None)
        speaks = forms.SPEAKER.match(self._lines[n].text) is not None
        if not (points or speaks):
            return None
        introduces = forms.INTRODUCES.search(lead) is not None
        if introduces and speaks:
            return self._paragraph(n), "chat"
        hands_over = introduces or forms.PROCESSES.search(lead) is not None
        if not (hands_over and points) or (forms.ORDERS.match(lead) and not forms.OF_OTHERS.search(lead)):
            return None
        return len(self._lines), "pasted"


def _claims(words: str) -> bool:
    """Whether a person says that the words are their own."""
    return forms.OWN.search(words) is not None or forms.OWN_ELSEWHERE.search(words) is not None


def _lines_of(text: str) -> Sequence[_Line]:
    lines, at = [], 0
    for line in text.split("\n"):
        lines.append(_Line(at, at + len(line), line[:_LONGEST_LINE].rstrip("\r")))
        at += len(line) + 1
    return lines


def _looks_like_code(lines: Sequence[str]) -> bool:
    """Whether most lines are program text or a test's output."""
    signs = sum(1 for line in lines if forms.CODE.match(line) or forms.CODE_SIGN.search(line))
    return bool(lines) and signs * 3 >= len(lines) * 2
