"""Visible text: which parts of an item's text somebody said, and the trust of each. Pure functions; no storage.

Hosts put reminders and instruction files into a person's messages and into the output of tools, and Palazzo puts memory
there. That text is archived with the row that holds it, but no drawer shows it. Otherwise it would be found again as if
it had been said, and injected again as if it were new.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from palazzo.model import Part, Trust
from palazzo.security.fences import FENCE
from palazzo.security.injected_text import NOTICE, SAVE, answer_spans, host_spans, is_first, palazzo_spans, save_spans
from palazzo.security.memory_tools import is_memory_tool
from palazzo.security.quotations import Quotation, quotations
from palazzo.security.trust_order import least_trust
from palazzo.text.lazy_patterns import make_regex

Range = tuple[int, int]

_REMINDER = make_regex(r"^<system-reminder>.*?</system-reminder>", re.DOTALL | re.MULTILINE)
_TAG = make_regex(r"<([\w-]+)")
_MENTION = make_regex(r"\s*(?:[^\n]{0,400}\n)?\[[^\[\]\n]{0,400}\]\s*")


def trust_of_part(part: Part, item: Trust) -> Trust:
    """Return the trust of a part of an item with that trust.

    A trust stated by the part itself is used. A tool's output without one gets the trust `tool`. Nor does an uploaded
    or attached file become its sender's words: it may be their own, the project's or the output of some program, so it
    counts as the last of these, `tool`. `external` is used only for content known to come from outside.
    """
    if part.trust is not None:
        return part.trust
    return item if part.kind in ("text", "thinking") else least_trust((item, "tool"))


def approved_trust(trust: Trust) -> Trust:
    """Return the trust of words of that trust after a person's approval: untrusted words then get a tool's."""
    return "tool" if trust == "external" else trust


def injected_ranges(text: str, start: int, end: int, role: str) -> list[Range]:
    """Return the ranges of `text[start:end]` without a speaker, sorted.

    A person may write about a reminder's tag, and a tool may print a file that does: therefore only closed blocks
    count, and in a tool's output only blocks at the beginning of a line, where hosts put them. Agents are shown such
    blocks, and write none except by quoting Palazzo's. In a tool's output, a block at its very beginning also counts,
    closed or not, and so does the JSON in which Palazzo's own tools answer.
    """
    if not _may_hold_injected(text, role):
        return []
    words = text[start:end]
    ranges = palazzo_spans(words)
    is_output = role not in ("user", "assistant")
    if role == "user":
        ranges += [*host_spans(words), *save_spans(words)]
    elif is_output:
        ranges += [match.span() for match in _REMINDER.finditer(words)]
    ranges = [
        (low, high) for low, high in ranges if _is_closed(words, low, high) or (is_output and is_first(words, low))
    ]
    if is_output:
        ranges += answer_spans(words)
    return sorted((start + low, start + high) for low, high in ranges)


def told_ranges(text: str, part: Part, role: str) -> list[Range]:
    """Return the ranges of a part of a row without a speaker, sorted.

    Whatever row it is in, a tool's output counts as written by a tool; and a memory's answer only repeats earlier text.
    """
    if part.kind == "tool_result" and is_memory_tool(part.name):
        return [(part.start, part.end)]
    return injected_ranges(text, part.start, part.end, "tool" if part.kind in ("tool_call", "tool_result") else role)


def quoted_ranges(text: str, part: Part, role: str, trust: Trust) -> list[Quotation]:
    """Return the ranges of a part that a person quotes, pastes or fences, sorted; `trust` is the row's."""
    if part.kind != "text" or role != "user" or trust_of_part(part, trust) != "user":
        return []
    quotes = quotations(text[part.start : part.end])
    return [Quotation(part.start + quote.start, part.start + quote.end, quote.kind) for quote in quotes]


def is_mention(text: str) -> bool:
    """Return whether an attachment is only named (`[application/pdf, plan.pdf]`, after its title), without text."""
    return _MENTION.fullmatch(text) is not None


def _may_hold_injected(text: str, role: str) -> bool:
    """Return whether there may be a tag or a host's instruction file: a quick test, run on every message."""
    if role == "user":
        return "<" in text or ".md (" in text or ".md instructions" in text or SAVE in text
    return FENCE in text or "<system-reminder>" in text or (role != "assistant" and NOTICE in text)


def _is_closed(text: str, start: int, end: int) -> bool:
    """Return whether a tagged block ends with its tag; instruction files have no tag and extend to the end."""
    tag = _TAG.match(text, start)
    return tag is None or (text[start:end].rstrip().endswith(">") and f"</{tag[1]}" in text[start:end])


def subtract_ranges(start: int, end: int, holes: Sequence[Range]) -> list[Range]:
    """Return what remains of [start, end) outside the sorted `holes`."""
    ranges, at = [], start
    for low, high in holes:
        if high <= at or low >= end:
            continue
        if low > at:
            ranges.append((at, low))
        at = max(at, high)
    if at < end:
        ranges.append((at, end))
    return ranges
