"""Terminal output of one search hit, with its labels and the explanation of its rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from palazzo.features.screen import INDENT, Part, Screen
from palazzo.features.search.hits import HitView, NeighbourView, ReasonView, SupersededView, TurnView
from palazzo.model import Micros, Trust
from palazzo.security.display_names import quoted_name, shown_place
from palazzo.text.count_phrases import count_noun
from palazzo.text.times import to_iso

MOST_LINES, MOST_CHARACTERS = 12, 1200
"""Maximum size of one hit: a screen holds five hits, and one command shows the full text."""
BESIDE_LINES, BESIDE_CHARACTERS = 8, 500
"""The same for the text around a hit."""
_DEEPER = INDENT + "  "
_HIT_INDENT = len("1  0.00  ")
_CELL = 8
"""Columns of a hit in the table of reasons."""
_TRUST = get_args(Trust)


def _title(hit: HitView) -> str:
    return quoted_name(hit.title) if hit.source.session_id else hit.title


def write_hit(screen: Screen, rank: int, hit: HitView, query_terms: Sequence[str], with_reasons: bool) -> None:
    """Show a hit: its time, place and title; its id; and its words between its neighbours' words."""
    screen.say(
        (f"{rank}", "bold"),
        "  ",
        (f"{hit.score:.2f}", "green"),
        f"  {day(hit.created_at)}  ",
        (shown_place(f"{hit.wing}/{hit.room}"), "cyan"),
        (f"  {_title(hit)}" if hit.title else "", "bold"),
        wrap_indent=_HIT_INDENT,
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
        wrap_indent=len(INDENT),
    )
    write_supersession(screen, hit.superseded)
    if hit.cited:
        screen.say((f"{INDENT}{hit.cited}", "yellow"), wrap_indent=len(INDENT))
    if with_reasons:
        screen.say((f"{INDENT}{hit.source.uri}", "dim"), wrap_indent=len(INDENT))
    for neighbour in hit.context:
        if neighbour.position < 0:
            _neighbour(screen, neighbour, hit)
    start, text = excerpt(hit.text, query_terms)
    if start:
        screen.say((f"{INDENT}… from character {start:,}:", "dim"))
    _write_turns(screen, text, start, hit.turns)
    _remainder(screen, len(text), hit.length, hit.id)
    for neighbour in hit.context:
        if neighbour.position > 0:
            _neighbour(screen, neighbour, hit)
    screen.gap()


def write_supersession(screen: Screen, by: SupersededView | None) -> None:
    """Say that some of the words are superseded."""
    if by is not None:
        message = f"superseded on {day(by.at)}: {by.value or 'it ended'}"
        screen.say((f"{INDENT}{message}  ({by.by})", "yellow"), wrap_indent=len(INDENT))


def _neighbour(screen: Screen, neighbour: NeighbourView, hit: HitView) -> None:
    is_previous = neighbour.position < 0
    arrow, name = ("↑", "before") if is_previous else ("↓", "after")
    if neighbour.hit is not None:
        screen.say((f"{INDENT}{arrow} {name} it: see hit {neighbour.hit}", "dim"))
        return
    lower = _TRUST.index(neighbour.trust) > _TRUST.index(hit.trust)
    facts = [
        day(neighbour.created_at) if day(neighbour.created_at) != day(hit.created_at) else "",
        neighbour.role,
        f"trust {neighbour.trust}" if lower else "",
    ]
    fact_text = "".join(f"  {fact}" for fact in facts if fact)
    screen.say((f"{INDENT}{arrow} {name} it  {neighbour.id}{fact_text}", "dim"), wrap_indent=len(INDENT))
    start, text = (
        _ending(neighbour.text) if is_previous else (0, beginning(neighbour.text, BESIDE_LINES, BESIDE_CHARACTERS))
    )
    _write_turns(screen, text, start, neighbour.turns, "dim", _DEEPER)
    _remainder(screen, len(text), neighbour.length, neighbour.id, _DEEPER)


def _write_turns(
    screen: Screen, text: str, start: int, turns: Sequence[TurnView], style: str = "", indent: str = INDENT
) -> None:
    """Show `text`, which begins at offset `start` of the turns, with the speaker of each part."""
    visible_turns = [turn for turn in turns if turn.end > start and turn.start < start + len(text)]
    if not visible_turns:
        screen.read(text.rstrip("\n"), "", style, indent)
    for turn in visible_turns:
        words = text[max(turn.start - start, 0) : turn.end - start].rstrip("\n")
        screen.read(words, turn.author if turn.role == "user" and turn.author else turn.role, style, indent)


def _remainder(screen: Screen, visible_length: int, length: int, uid: str, indent: str = INDENT) -> None:
    if visible_length < length:
        screen.say((f"{indent}… {visible_length:,} of {length:,} characters; palazzo show {uid}", "dim"))


def write_reasons(screen: Screen, hits: Sequence[HitView], floor: float) -> None:
    """Show why hits are in this order: each stage's result and each signal's share of the rank, for each hit."""
    hit_reasons = [{reason.name: reason for reason in hit.reasons} for hit in hits]
    names = _merged([list(reasons) for reasons in hit_reasons])
    columns = max(1, (screen.width - max(map(len, names), default=0) - _CELL) // _CELL)
    for first in range(0, len(hits), columns):
        part = range(first, min(first + columns, len(hits)))
        rows = [[name, _weight(name, hit_reasons), *(_cell(hit_reasons[n].get(name)) for n in part)] for name in names]
        rows.append([("score", "bold"), "", *((f"{hits[n].score:.4f}", "green") for n in part)])
        screen.table(("", "weight", *(f"hit {n + 1}" for n in part)), rows, right=range(1, len(part) + 2))
        screen.gap()
    ceilings = {reason.most for reasons in hit_reasons for reason in reasons.values() if reason.most is not None}
    for line in (
        "Lines with a weight show what a signal adds to the rank; hits are ordered by rank.",
        *(f"bm25 is at most {maximum:.1f} for these words." for maximum in ceilings),
        f"The score estimates how likely a hit answers the query; the best must reach {floor:g}.",
    ):
        screen.say((line, "dim"), wrap_indent=0)
    screen.gap()


def _merged(lists: Sequence[Sequence[str]]) -> list[str]:
    """Merge lists that share one order but each leave out some names."""
    merged: list[str] = []
    for names in lists:
        at = 0
        for name in names:
            if name not in merged:
                merged.insert(at, name)
            at = merged.index(name) + 1
    return merged


def _weight(name: str, hit_reasons: Sequence[dict[str, ReasonView]]) -> Part:
    weight = next((reasons[name].weight for reasons in hit_reasons if name in reasons), None)
    return "" if weight is None else (f"{weight:.2f}", "dim")


def _cell(reason: ReasonView | None) -> Part:
    if reason is None:
        return ""
    return f"{reason.value:.2f}" if reason.weight is None else f"{reason.value * reason.weight:+.2f}"


def excerpt(text: str, query_terms: Sequence[str]) -> tuple[int, str]:
    """Return (start, excerpt of `text` for one hit): the beginning, unless another part has more of the query."""
    if len(beginning(text)) == len(text):
        return 0, text
    lines = text.split("\n")
    counts = [sum(term in line.casefold() for term in query_terms) for line in lines]
    best = max(range(len(lines)), key=lambda n: (sum(counts[n : n + MOST_LINES // 2]), -n))
    first = 0 if sum(counts[:MOST_LINES]) >= sum(counts[best : best + MOST_LINES]) else max(0, best - 1)
    start = sum(len(line) + 1 for line in lines[:first])
    return start, beginning(text[start:])


def beginning(text: str, lines: int = MOST_LINES, characters: int = MOST_CHARACTERS) -> str:
    """Return as much of `text` as one hit may show, cut at the end of a line or word."""
    excerpt_text = "\n".join(text.split("\n")[:lines])
    if len(excerpt_text) <= characters:
        return excerpt_text
    head = excerpt_text[:characters]
    for mark in ("\n", " "):
        at = head.rfind(mark)
        if at > characters // 2:
            return head[:at]
    return head


def _ending(text: str) -> tuple[int, str]:
    """Return (start, end of `text`), as much of it as may be shown before a hit."""
    excerpt_text = "\n".join(text.split("\n")[-BESIDE_LINES:])
    if len(excerpt_text) > BESIDE_CHARACTERS:
        tail = excerpt_text[-BESIDE_CHARACTERS:]
        at = next((at for at in map(tail.find, "\n ") if 0 <= at < BESIDE_CHARACTERS // 2), -1)
        excerpt_text = tail[at + 1 :]
    return len(text) - len(excerpt_text), excerpt_text


def day(at: Micros) -> str:
    """Return the date, or a word if it is unknown."""
    return to_iso(at)[:10] if at else "undated"
