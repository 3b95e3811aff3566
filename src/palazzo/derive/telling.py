"""What of an item's text somebody said, and whom to believe for it. Pure functions; no storage.

Hosts put reminders and instruction files into a person's messages and into what tools print, and Palazzo puts
memory there. That is archived with the row that holds it, and no drawer shows it: it would be found again as if it
had been said, and injected again as if it were new.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from palazzo.guard.injected import FENCE, host_spans, palazzo_spans
from palazzo.model import Part, Trust

Range = tuple[int, int]

_TRUST_ORDER: tuple[Trust, ...] = ("user", "agent", "repo", "tool", "external")
_REMINDER = re.compile(r"^<system-reminder>.*?</system-reminder>", re.DOTALL | re.MULTILINE)
_TAG = re.compile(r"<([\w-]+)")
_MENTION = re.compile(r"\s*(?:[^\n]{0,400}\n)?\[[^\[\]\n]{0,400}\]\s*")


def least_trust(labels: Iterable[Trust]) -> Trust:
    """Return the least trusted of the labels: a drawer is worth no more than its worst words."""
    return max(labels, key=_TRUST_ORDER.index, default="external")


def trust_of_part(part: Part, item: Trust) -> Trust:
    """Return whom to believe for a part of an item of that trust.

    What the part itself states holds. A tool's output that states nothing is the tool's. Nor does an uploaded or
    attached file become its sender's words: it may be their own, the project's or what some program wrote, so it
    counts as the last of these, `tool`. `external` is left to what is known to come from outside.
    """
    if part.trust is not None:
        return part.trust
    return item if part.kind in ("text", "thinking") else least_trust((item, "tool"))


def injected_ranges(text: str, start: int, end: int, role: str) -> list[Range]:
    """Return the stretches of `text[start:end]` that nobody said, sorted.

    A person may write of a reminder's tag, and a tool may print a file that does: only what is closed counts, and in
    what a tool prints only what stands at the beginning of a line, as hosts put it there. Agents are shown such
    blocks, and write none but by quoting Palazzo's.
    """
    asked = _may_be_put_into_a_message(text) if role == "user" else FENCE in text or "<system-reminder>" in text
    if not asked:
        return []
    words = text[start:end]
    found = palazzo_spans(words)
    if role == "user":
        found += host_spans(words)
    elif role != "assistant":
        found += [match.span() for match in _REMINDER.finditer(words)]
    return sorted((start + low, start + high) for low, high in found if _is_closed(words, low, high))


def is_mention(text: str) -> bool:
    """Whether an attachment is named only (`[application/pdf, plan.pdf]`, its title before), without its words."""
    return _MENTION.fullmatch(text) is not None


def _may_be_put_into_a_message(text: str) -> bool:
    """Whether there is a tag, or an instruction file as a host names it: asked of every message, so it is quick."""
    return "<" in text or ".md (" in text or ".md instructions" in text


def _is_closed(text: str, start: int, end: int) -> bool:
    """Whether a block that a tag opens ends with that tag; instruction files have none and reach to the end."""
    tag = _TAG.match(text, start)
    return tag is None or (text[start:end].rstrip().endswith(">") and f"</{tag[1]}" in text[start:end])
