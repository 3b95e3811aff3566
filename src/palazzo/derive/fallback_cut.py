"""The fallback of the cutter: an item that the rules cannot cut becomes plain drawers, so that its words are found.

Plain drawers are pieces of the whole text, whatever is in it. They are found by keyword, and have no vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from palazzo.derive.cutting import (
    ENTRY_CHARACTERS,
    Belief,
    CutItem,
    CutSpan,
    Draft,
    note_belief,
    note_kind,
    without,
)
from palazzo.derive.failure_isolation import is_of_text
from palazzo.derive.telling import approved_trust, least_trust, trust_of_part
from palazzo.model import DrawerKind

Prepared = TypeVar("Prepared")


class Rules(NamedTuple):
    """How some items are cut; and of one that cannot be, of which kind its plain drawers are and whom to believe."""

    cut: Callable[[Sequence[CutItem]], list[Draft]]
    plain: Callable[[CutItem], tuple[DrawerKind, Belief]]


class Drafted(NamedTuple, Generic[Prepared]):
    """What was made of some items, and those that could not be cut by the rules, with why."""

    prepared: list[Prepared]
    failed: dict[int, Exception]


def cut_safely(items: Sequence[CutItem], rules: Rules, prepare: Callable[[Draft], Prepared]) -> Drafted[Prepared]:
    """Cut items and prepare their drafts; those on which either fails are cut plainly."""
    made = _try(items, rules, prepare)
    if isinstance(made, list):
        return Drafted(made, {})
    failed = {item.row: why for item in items if isinstance(why := _try([item], rules, prepare), Exception)}
    rest = [item for item in items if item.row not in failed]
    others = _try(rest, rules, prepare) if failed else made
    if isinstance(others, Exception):  # items that fail only together
        failed, others = {item.row: failed.get(item.row, others) for item in items}, []
    plain = [draft for item in items if item.row in failed for draft in cut_plainly(item, rules)]
    return Drafted([*others, *map(prepare, plain)], failed)


def cut_with(items: Sequence[CutItem], rules: Rules, plain: Collection[int]) -> Iterator[Draft]:
    """Yield the drafts of items, of which those with the row ids in `plain` are cut plainly."""
    rest = [item for item in items if item.row not in plain]
    if rest:
        yield from rules.cut(rest)
    for item in items:
        if item.row in plain:
            yield from cut_plainly(item, rules)


def cut_plainly(item: CutItem, rules: Rules) -> Iterator[Draft]:
    """Yield the plain drafts of an item: all of it but what was forgotten."""
    kind, belief = rules.plain(item)
    for start, end in without(0, len(item.text), item.holes):
        for low in range(start, end, ENTRY_CHARACTERS):
            span = CutSpan(item, low, min(low + ENTRY_CHARACTERS, end))
            if span.text.strip():
                yield Draft(kind, (span,), (), item.role, belief, "", item.author, is_plain=True)


def plain_section(item: CutItem) -> tuple[DrawerKind, Belief]:
    """Return kind and belief of a document's plain drawers."""
    return "section", Belief(item.trust, approved_trust(item.trust))


def plain_note(item: CutItem) -> tuple[DrawerKind, Belief]:
    """Return kind and belief of a note's plain drawers."""
    return note_kind(item), note_belief(item)


def plain_message(item: CutItem) -> tuple[DrawerKind, Belief]:
    """Return kind and belief of a message's plain drawers: it is worth no more than the least of its parts."""
    trust = least_trust([item.trust, *(trust_of_part(part, item.trust) for part in item.parts)])
    belief = Belief("external" if item.outside else trust, approved_trust(trust))
    return ("exchange" if item.role in ("user", "assistant") else "tool"), belief


def _try(items: Sequence[CutItem], rules: Rules, prepare: Callable[[Draft], Prepared]) -> list[Prepared] | Exception:
    """Return what is made of items by the rules, or what is raised then."""
    try:
        return [prepare(draft) for draft in rules.cut(items)] if items else []
    except Exception as error:
        if not is_of_text(error):
            raise
        return error
