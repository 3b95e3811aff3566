"""What a row adds to the words that a thread has heard, for `security/echoes`. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from palazzo.derive.cutting import CutItem, belief, without
from palazzo.derive.telling import quoted_ranges
from palazzo.model import Part
from palazzo.security.echoes import Heard
from palazzo.store.outside import Mark


def heard_words(item: CutItem, marks: Iterable[Mark], is_local: bool) -> list[Heard]:
    """Return the words of a row with these marks; `is_local`: no untrusted words came before it.

    Once untrusted words came, only the person's count as trusted: an agent or a file may repeat the others.
    """
    met, tainted, local = set(), set(), set()
    for mark in marks:
        if mark.kind == "met":
            met.add(mark.start)
        elif mark.kind == "tainted":
            tainted.add(mark.start)
        elif mark.kind == "local":
            local.add(mark.start)
    found: list[Heard] = []
    for part in item.parts or (Part("text", 0, len(item.text)),):
        words = item.text[part.start : part.end]
        believed = belief(item, part)
        if part.start in met:
            found.append(Heard(words, "untrusted"))
        elif part.start in tainted or (believed.is_outside and part.start not in local):
            continue  # an agent's words under their influence, or what a person has approved
        elif believed.trust == "user":
            quoted = quoted_ranges(item.text, part, item.role, item.trust)
            found += [Heard(item.text[one.start : one.end], "untrusted") for one in quoted]
            left = without(part.start, part.end, [(one.start, one.end) for one in quoted])
            found += [Heard(item.text[low:high], "person") for low, high in left]
        elif is_local:
            found.append(Heard(words, "local"))
    return found


def holds_echo(item: CutItem, part: Part) -> bool:
    """Whether a part is an agent's words: what it says, thinks and calls for."""
    return item.role == "assistant" and part.kind in ("text", "thinking", "tool_call")
