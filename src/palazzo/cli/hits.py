"""How one hit looks to a person, with what stands beside it and why it is where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from palazzo.cli.screen import INDENT, Part, Screen
from palazzo.model import Micros, Trust
from palazzo.operations.hits import HitView, NeighbourView, ReasonView, SupersededView, TurnView
from palazzo.security.display_names import quoted_name, shown_place
from palazzo.text.counts import count_noun
from palazzo.text.times import to_iso

MOST_LINES, MOST_CHARACTERS = 12, 1200
"""What one hit may show: a screen holds five hits, and the whole is one command away."""
BESIDE_LINES, BESIDE_CHARACTERS = 8, 500
"""The same of what stands beside it."""
_DEEPER = INDENT + "  "
_HANGING = len("1  0.00  ")
_CELL = 8
"""Columns that a hit takes in the table of reasons."""
_TRUST = get_args(Trust)


def _title(hit: HitView) -> str:
    return quoted_name(hit.title) if hit.source.session_id else hit.title


def write_hit(screen: Screen, rank: int, hit: HitView, asked: Sequence[str], explained: bool) -> None:
    """Show a hit: when, where and under which title; its id; and its words between its neighbours'."""
    screen.say(
        (f"{rank}", "bold"),
        "  ",
        (f"{hit.score:.2f}", "green"),
        f"  {day(hit.created_at)}  ",
        (shown_place(f"{hit.wing}/{hit.room}"), "cyan"),
        (f"  {_title(hit)}" if hit.title else "", "bold"),
        hanging=_HANGING,
    )
    marks = [
        hit.label or (hit.branch and f"branch {quoted_name(hit.branch)}"),
        hit.trust == "external" and "external",
        hit.state,
        hit.filed_as,
        hit.copies and count_noun(hit.copies, "near-copy"),
    ]
    facts = "".join(f"  {fact}" for fact in (hit.role, hit.source.locator) if fact)
    screen.say(
        (f"{INDENT}{hit.id}{facts}", "dim"),
        ("".join(f"  {mark}" for mark in marks if mark), "yellow"),
        hanging=len(INDENT),
    )
    superseded(screen, hit.superseded)
    if hit.cited:
        screen.say((f"{INDENT}{hit.cited}", "yellow"), hanging=len(INDENT))
    if explained:
        screen.say((f"{INDENT}{hit.source.uri}", "dim"), hanging=len(INDENT))
    for neighbour in hit.context:
        if neighbour.position < 0:
            _neighbour(screen, neighbour, hit)
    start, text = excerpt(hit.text, asked)
    if start:
        screen.say((f"{INDENT}… from character {start:,} on:", "dim"))
    _spoken(screen, text, start, hit.turns)
    _remainder(screen, len(text), hit.length, hit.id)
    for neighbour in hit.context:
        if neighbour.position > 0:
            _neighbour(screen, neighbour, hit)
    screen.gap()


def superseded(screen: Screen, by: SupersededView | None) -> None:
    """Say that some of the words do not hold any more."""
    if by is not None:
        told = f"superseded on {day(by.at)}: {by.value or 'it ended'}"
        screen.say((f"{INDENT}{told}  ({by.by})", "yellow"), hanging=len(INDENT))


def _neighbour(screen: Screen, neighbour: NeighbourView, hit: HitView) -> None:
    before = neighbour.position < 0
    arrow, name = ("↑", "before") if before else ("↓", "after")
    if neighbour.hit is not None:
        screen.say((f"{INDENT}{arrow} {name} it: see hit {neighbour.hit}", "dim"))
        return
    lower = _TRUST.index(neighbour.trust) > _TRUST.index(hit.trust)
    facts = [
        day(neighbour.created_at) if day(neighbour.created_at) != day(hit.created_at) else "",
        neighbour.role,
        f"trust {neighbour.trust}" if lower else "",
    ]
    told = "".join(f"  {fact}" for fact in facts if fact)
    screen.say((f"{INDENT}{arrow} {name} it  {neighbour.id}{told}", "dim"), hanging=len(INDENT))
    start, text = _ending(neighbour.text) if before else (0, beginning(neighbour.text, BESIDE_LINES, BESIDE_CHARACTERS))
    _spoken(screen, text, start, neighbour.turns, "dim", _DEEPER)
    _remainder(screen, len(text), neighbour.length, neighbour.id, _DEEPER)


def _spoken(
    screen: Screen, text: str, start: int, turns: Sequence[TurnView], style: str = "", indent: str = INDENT
) -> None:
    """Show `text`, which begins at `start` of what the turns count, with who says each part of it."""
    within = [turn for turn in turns if turn.end > start and turn.start < start + len(text)]
    if not within:
        screen.read(text.rstrip("\n"), "", style, indent)
    for turn in within:
        words = text[max(turn.start - start, 0) : turn.end - start].rstrip("\n")
        screen.read(words, turn.author if turn.role == "user" and turn.author else turn.role, style, indent)


def _remainder(screen: Screen, shown: int, length: int, uid: str, indent: str = INDENT) -> None:
    if shown < length:
        screen.say((f"{indent}… {shown:,} of {length:,} characters; palazzo show {uid}", "dim"))


def write_reasons(screen: Screen, hits: Sequence[HitView], floor: float) -> None:
    """Show why hits are in this order: what each stage found of each, and what each signal adds to its rank."""
    told = [{reason.name: reason for reason in hit.reasons} for hit in hits]
    names = _merged([list(one) for one in told])
    columns = max(1, (screen.width - max(map(len, names), default=0) - _CELL) // _CELL)
    for first in range(0, len(hits), columns):
        part = range(first, min(first + columns, len(hits)))
        rows = [[name, _weight(name, told), *(_cell(told[n].get(name)) for n in part)] for name in names]
        rows.append([("score", "bold"), "", *((f"{hits[n].score:.4f}", "green") for n in part)])
        screen.table(("", "weight", *(f"hit {n + 1}" for n in part)), rows, right=range(1, len(part) + 2))
        screen.gap()
    ceilings = {reason.most for one in told for reason in one.values() if reason.most is not None}
    for line in (
        "Lines with a weight say what a signal adds to the rank; hits are ordered by rank.",
        *(f"bm25 is at most {ceiling:.1f} for these words." for ceiling in ceilings),
        f"The score says how likely a hit answers; the best must reach {floor:g}.",
    ):
        screen.say((line, "dim"), hanging=0)
    screen.gap()


def _merged(lists: Sequence[Sequence[str]]) -> list[str]:
    """Join lists that each leave out some names of one order."""
    merged: list[str] = []
    for names in lists:
        at = 0
        for name in names:
            if name not in merged:
                merged.insert(at, name)
            at = merged.index(name) + 1
    return merged


def _weight(name: str, told: Sequence[dict[str, ReasonView]]) -> Part:
    weight = next((one[name].weight for one in told if name in one), None)
    return "" if weight is None else (f"{weight:.2f}", "dim")


def _cell(reason: ReasonView | None) -> Part:
    if reason is None:
        return ""
    return f"{reason.value:.2f}" if reason.weight is None else f"{reason.value * reason.weight:+.2f}"


def excerpt(text: str, asked: Sequence[str]) -> tuple[int, str]:
    """Return (where it begins, what one hit may show of `text`): the beginning, unless another part says more."""
    if len(beginning(text)) == len(text):
        return 0, text
    lines = text.split("\n")
    counts = [sum(term in line.casefold() for term in asked) for line in lines]
    best = max(range(len(lines)), key=lambda n: (sum(counts[n : n + MOST_LINES // 2]), -n))
    first = 0 if sum(counts[:MOST_LINES]) >= sum(counts[best : best + MOST_LINES]) else max(0, best - 1)
    start = sum(len(line) + 1 for line in lines[:first])
    return start, beginning(text[start:])


def beginning(text: str, lines: int = MOST_LINES, characters: int = MOST_CHARACTERS) -> str:
    """Return as much of `text` as one hit may show, cut at the end of a line or word."""
    kept = "\n".join(text.split("\n")[:lines])
    if len(kept) <= characters:
        return kept
    head = kept[:characters]
    for mark in ("\n", " "):
        at = head.rfind(mark)
        if at > characters // 2:
            return head[:at]
    return head


def _ending(text: str) -> tuple[int, str]:
    """Return (where it begins, the end of `text`), as much of it as may stand before a hit."""
    kept = "\n".join(text.split("\n")[-BESIDE_LINES:])
    if len(kept) > BESIDE_CHARACTERS:
        tail = kept[-BESIDE_CHARACTERS:]
        at = next((at for at in map(tail.find, "\n ") if 0 <= at < BESIDE_CHARACTERS // 2), -1)
        kept = tail[at + 1 :]
    return len(text) - len(kept), kept


def day(at: Micros) -> str:
    """Return the date, or a word where it is not known."""
    return to_iso(at)[:10] if at else "undated"
