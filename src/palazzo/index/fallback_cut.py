"""Fallback of the cutter: an item that the rules cannot cut becomes plain drawers, so that search finds its text.

Plain drawers are pieces of the whole text, whatever it contains. Search finds them by keyword; they have no vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from palazzo.index.cut_rules import (
    ENTRY_CHARACTERS,
    Belief,
    CutItem,
    CutSpan,
    Draft,
    note_belief,
    note_kind,
)
from palazzo.index.failure_isolation import process_text
from palazzo.index.visible_text import approved_trust, subtract_ranges, trust_of_part
from palazzo.model import DrawerKind
from palazzo.security.trust_order import least_trust

PreparedDraft = TypeVar("PreparedDraft")


class Rules(NamedTuple):
    """`cut` cuts items; `plain` gives the kind and the belief of the plain drawers of an item that cannot be cut."""

    cut: Callable[[Sequence[CutItem]], list[Draft]]
    plain: Callable[[CutItem], tuple[DrawerKind, Belief]]


class CutResult(NamedTuple, Generic[PreparedDraft]):
    """The prepared drafts of some items, and the errors of the items that the rules could not cut, by row id."""

    drafts: list[PreparedDraft]
    failed: dict[int, Exception]


def cut_safely(
    items: Sequence[CutItem], rules: Rules, prepare: Callable[[Draft], PreparedDraft]
) -> CutResult[PreparedDraft]:
    """Cut items and prepare their drafts. Items for which either step fails are cut plainly."""

    def cut(some_items: Sequence[CutItem]) -> list[PreparedDraft] | Exception:
        return process_text(lambda: [prepare(draft) for draft in rules.cut(some_items)] if some_items else [])

    drafts = cut(items)
    if isinstance(drafts, list):
        return CutResult(drafts, {})
    failed = {item.row: error for item in items if isinstance(error := cut([item]), Exception)}
    if failed:
        drafts = cut([item for item in items if item.row not in failed])
    if isinstance(drafts, Exception):  # items that fail only together
        failed, drafts = {item.row: failed.get(item.row, drafts) for item in items}, []
    plain = [draft for item in items if item.row in failed for draft in cut_plainly(item, rules)]
    return CutResult([*drafts, *map(prepare, plain)], failed)


def cut_with(items: Sequence[CutItem], rules: Rules, plain: Collection[int]) -> Iterator[Draft]:
    """Yield the drafts of items. Items whose row ids are in `plain` are cut plainly."""
    rest = [item for item in items if item.row not in plain]
    if rest:
        yield from rules.cut(rest)
    for item in items:
        if item.row in plain:
            yield from cut_plainly(item, rules)


def cut_plainly(item: CutItem, rules: Rules) -> Iterator[Draft]:
    """Yield the plain drafts of an item: all of its text except forgotten ranges."""
    kind, belief = rules.plain(item)
    for start, end in subtract_ranges(0, len(item.text), item.holes):
        for low in range(start, end, ENTRY_CHARACTERS):
            span = CutSpan(item, low, min(low + ENTRY_CHARACTERS, end))
            if span.text.strip():
                yield Draft(kind, (span,), (), item.role, belief, "", item.author, is_plain=True)


def plain_section(item: CutItem) -> tuple[DrawerKind, Belief]:
    """Return the kind and the trust of a document's plain drawers."""
    return "section", Belief(item.trust, approved_trust(item.trust))


def plain_note(item: CutItem) -> tuple[DrawerKind, Belief]:
    """Return the kind and the trust of a note's plain drawers."""
    return note_kind(item), note_belief(item)


def plain_message(item: CutItem) -> tuple[DrawerKind, Belief]:
    """Return the kind and the trust of a message's plain drawers: they have the lowest trust of its parts."""
    trust = least_trust([item.trust, *(trust_of_part(part, item.trust) for part in item.parts)])
    belief = Belief("external" if item.outside else trust, approved_trust(trust))
    return ("exchange" if item.role in ("user", "assistant") else "tool"), belief
