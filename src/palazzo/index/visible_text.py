"""What of an item's text somebody said, and whom to believe for it. Pure functions; no storage.

Hosts put reminders and instruction files into a person's messages and into what tools print, and Palazzo puts
memory there. That is archived with the row that holds it, and no drawer shows it: it would be found again as if it
had been said, and injected again as if it were new.
"""

from __future__ import annotations

import re

from palazzo.model import Part, Trust
from palazzo.security.fences import FENCE
from palazzo.security.injected_text import NOTICE, SAVE, answer_spans, host_spans, is_first, palazzo_spans, save_spans
from palazzo.security.memory_tools import is_memory_tool
from palazzo.security.quotations import Quotation, quotations
from palazzo.security.trust_order import least_trust

Range = tuple[int, int]

_REMINDER = re.compile(r"^<system-reminder>.*?</system-reminder>", re.DOTALL | re.MULTILINE)
_TAG = re.compile(r"<([\w-]+)")
_MENTION = re.compile(r"\s*(?:[^\n]{0,400}\n)?\[[^\[\]\n]{0,400}\]\s*")


def trust_of_part(part: Part, item: Trust) -> Trust:
    """Return whom to believe for a part of an item of that trust.

    What the part itself states holds. A tool's output that states nothing is the tool's. Nor does an uploaded or
    attached file become its sender's words: it may be their own, the project's or what some program wrote, so it
    counts as the last of these, `tool`. `external` is left to what is known to come from outside.
    """
    if part.trust is not None:
        return part.trust
    return item if part.kind in ("text", "thinking") else least_trust((item, "tool"))


def approved_trust(trust: Trust) -> Trust:
    """Return whom to believe for words of that trust that a person has approved: outside words are a tool's then."""
    return "tool" if trust == "external" else trust


def injected_ranges(text: str, start: int, end: int, role: str) -> list[Range]:
    """Return the stretches of `text[start:end]` that nobody said, sorted.

    A person may write of a reminder's tag, and a tool may print a file that does: only what is closed counts, and in
    what a tool prints only what stands at the beginning of a line, as hosts put it there. Agents are shown such
    blocks, and write none but by quoting Palazzo's. Of what a tool prints also that counts which begins it, closed or
    not, and the JSON in which Palazzo's own tools answer.
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
    """Return the stretches of a part of a row that nobody said, sorted.

    Whoever's row it stands in, a tool's output is written by a tool; and what a memory answers was said before.
    """
    if part.kind == "tool_result" and is_memory_tool(part.name):
        return [(part.start, part.end)]
    return injected_ranges(text, part.start, part.end, "tool" if part.kind in ("tool_call", "tool_result") else role)


def quoted_ranges(text: str, part: Part, role: str, trust: Trust) -> list[Quotation]:
    """Return the stretches of a part that a person quotes, pastes or fences, sorted; `trust` is the row's."""
    if part.kind != "text" or role != "user" or trust_of_part(part, trust) != "user":
        return []
    quotes = quotations(text[part.start : part.end])
    return [Quotation(part.start + quote.start, part.start + quote.end, quote.kind) for quote in quotes]


def is_mention(text: str) -> bool:
    """Whether an attachment is named only (`[application/pdf, plan.pdf]`, its title before), without its words."""
    return _MENTION.fullmatch(text) is not None


def _may_hold_injected(text: str, role: str) -> bool:
    """Whether there is a tag, or an instruction file as a host names it: asked of every message, so it is quick."""
    if role == "user":
        return "<" in text or ".md (" in text or ".md instructions" in text or SAVE in text
    return FENCE in text or "<system-reminder>" in text or (role != "assistant" and NOTICE in text)


def _is_closed(text: str, start: int, end: int) -> bool:
    """Whether a block that a tag opens ends with that tag; instruction files have none and reach to the end."""
    tag = _TAG.match(text, start)
    return tag is None or (text[start:end].rstrip().endswith(">") and f"</{tag[1]}" in text[start:end])
