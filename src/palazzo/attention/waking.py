"""Waking up: of what is known, the few lines that are worth reading when a session starts. Pure.

    importance = recency × (what it is + marks + references + use) × wear

    recency     1 / (1 + age / half-life of its section): a session has half its worth after a week, a decision after
                two months. What is old fades ever more slowly: a project left for a year still has its last sessions
    what it is  by section: what is due counts most, then what is open, to-dos, decisions, facts, sessions, notes
    marks       0.5 for each of at most three tags that somebody put there
    references  0.5 × log2(1 + how many facts and tunnels rest on it)
    use         0.5 × log2(1 + in how many sessions it was used)
    wear        less than 1 for what many sessions were told of and none used (`wear`); what is to be done never wears

The best of each section come first. Of the rest, each line of a section counts for less than the one before it, so
that twenty open threads leave room for a decision. So lines are taken while the budget lasts, and told in the order of
the sections. Every time in
the text is a date, never an age: the same knowledge gives the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from palazzo.attention.wear import wear
from palazzo.model import Micros, Trust
from palazzo.text.similarity import Signature, containment, signature
from palazzo.text.tokens import estimate_tokens

Depth = Literal["shallow", "medium", "deep"]
Section = Literal["due", "open", "todo", "decision", "fact", "session", "diary", "note"]
DEPTHS: tuple[Depth, ...] = ("shallow", "medium", "deep")

BUDGETS: Mapping[Depth, int] = {"shallow": 300, "medium": 900, "deep": 2000}
"""Tokens."""
LONGEST: Mapping[Depth, int] = {"shallow": 140, "medium": 280, "deep": 560}
"""Characters of one line's words."""
TOLD: Mapping[Depth, frozenset[Section]] = {
    "shallow": frozenset(["due", "open", "todo", "decision", "session"]),
    "medium": frozenset(["due", "open", "todo", "decision", "fact", "session", "diary", "note"]),
    "deep": frozenset(["due", "open", "todo", "decision", "fact", "session", "diary", "note"]),
}

TITLES: Mapping[Section, str] = {
    "due": "Reminders that are due:",
    "open": "Left open:",
    "todo": "To do:",
    "decision": "Decisions that stand:",
    "fact": "Facts that changed lately:",
    "session": "Last sessions:",
    "diary": "From the diary:",
    "note": "Notes:",
}
"""The sections in the order in which they are told."""
WORTH: Mapping[Section, float] = {
    "due": 4.0,
    "open": 3.0,
    "todo": 3.0,
    "decision": 2.5,
    "fact": 1.5,
    "session": 1.5,
    "diary": 1.5,
    "note": 1.0,
}
"""The order of worth of a wake-up; that due reminders come first is what they are for."""
HALF_LIVES: Mapping[Section, float] = {
    "due": 3650.0,
    "open": 14.0,
    "todo": 60.0,
    "decision": 60.0,
    "fact": 30.0,
    "session": 7.0,
    "diary": 7.0,
    "note": 30.0,
}
"""Days. A reminder stays due until it is done; what is open in a session is mostly closed within weeks unsaid."""
FIRST: Mapping[Depth, int] = {"shallow": 1, "medium": 2, "deep": 3}
"""How many lines of each section come before all others."""
_FADING = 0.85
"""What each further line of a section counts for, of the one before: from about the fifth on others come first."""
_TO_BE_DONE: frozenset[Section] = frozenset(["due", "todo"])
_MARKS = 3
_STEP = 0.5
_DAY = 86_400_000_000
_LEAST_LINE = 12
"""Tokens below which no line has room: its date and its id take as many."""
_NEAR_COPY = 0.9
"""As in search: share of a line's runs of three words that another holds."""
MORE = "More: palazzo search QUERY; palazzo show ID."


@dataclass(frozen=True, slots=True)
class Known:
    """Something that may be told: its words, who says it, since when, and what speaks for it.

    `remark` is said behind the words (`due before 2026-03-04`); `at` is 0 where it is not known.
    """

    section: Section
    id: str
    at: Micros
    origin: str
    text: str
    trust: Trust
    remark: str = ""
    marks: int = 0
    references: int = 0
    uses: int = 0
    """Sessions that used it when they were told of it."""
    unused: int = 0
    """Sessions that were told of it since then."""
    drawers: tuple[str, ...] = ()
    """Other ids that it is told by."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the text: what it tells of, its words, cut short where `truncated`, and all of it as it is shown."""

    known: Known
    text: str
    truncated: bool
    importance: float
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Woken:
    """The text, and its lines in its order."""

    text: str
    lines: tuple[Line, ...]


def importance(known: Known, now: Micros) -> float:
    """Return how much something is worth telling at `now`. What has no date counts as one half-life old."""
    half_life = HALF_LIVES[known.section]
    age = max(0, now - known.at) / _DAY if known.at else half_life
    said = WORTH[known.section] + _STEP * min(known.marks, _MARKS)
    rests = _STEP * math.log2(1 + known.references) + _STEP * math.log2(1 + known.uses)
    worn = 1.0 if known.section in _TO_BE_DONE else wear(known.unused)
    return (said + rests) * worn / (1 + age / half_life)


def wake(
    head: Sequence[str],
    known: Iterable[Known],
    depth: Depth,
    budget: int,
    now: Micros,
    day: Callable[[Micros], str],
    short: Callable[[str], str] = str,
) -> Woken:
    """Return the text for `budget` tokens; `head` are ways to begin it, the best first.

    `day` tells a date, `short` how an id is shown.
    """
    beginning = next((one for one in head if estimate_tokens(one) <= budget), "")
    if not beginning:
        return Woken("", ())
    left = budget - estimate_tokens(beginning)
    chosen: list[Line] = []
    begun: set[Section] = set()
    said: list[Signature] = []
    closing = estimate_tokens(MORE)
    for ranked in _ranked((one for one in known if one.section in TOLD[depth]), depth, now):
        if left - closing < _LEAST_LINE:
            break
        section = ranked.known.section
        least = closing + (0 if section in begun else estimate_tokens(TITLES[section]))
        if least + estimate_tokens(ranked.text) > left:
            continue
        line = replace(ranked, shown=_told(ranked, day, short))
        cost = least - closing + estimate_tokens(line.shown)
        own = signature(line.known.text)
        if cost + closing <= left and not any(containment(own, other) >= _NEAR_COPY for other in said):
            chosen.append(line)
            said.append(own)
            begun.add(section)
            left -= cost
    return _text(beginning, chosen, MORE if chosen else "")


def _text(beginning: str, chosen: Sequence[Line], closing: str) -> Woken:
    lines = [beginning]
    told: list[Line] = []
    for section, title in TITLES.items():
        own = [line for line in chosen if line.known.section == section]
        if own:
            lines += [title, *(line.shown for line in own)]
            told += own
    return Woken("\n".join([*lines, closing] if closing else lines), tuple(told))


def _ranked(known: Iterable[Known], depth: Depth, now: Micros) -> list[Line]:
    """Lines by what they are worth after those of their section that come before them."""
    counts: dict[Section, int] = {}
    faded: list[tuple[bool, float, Line]] = []
    for line in sorted((_line(one, depth, now) for one in known), key=_by_importance):
        nth = counts.get(line.known.section, 0)
        counts[line.known.section] = nth + 1
        faded.append((nth >= FIRST[depth], line.importance * _FADING**nth, line))
    return [line for _, _, line in sorted(faded, key=lambda one: (one[0], -one[1], one[2].known.id))]


def _by_importance(line: Line) -> tuple[float, int, str]:
    return -line.importance, -line.known.at, line.known.id


def _line(known: Known, depth: Depth, now: Micros) -> Line:
    words = " ".join(known.text.split())
    text = _cut(words, LONGEST[depth])
    return Line(replace(known, text=words), text, len(text) < len(words), importance(known, now))


def _cut(words: str, size: int) -> str:
    """The beginning of words: whole sentences where most of the room is used so, else whole words."""
    if len(words) <= size:
        return words
    head = words[: size + 1]
    stop = max(head.rfind(mark) for mark in (". ", "! ", "? ", "; ", "。"))
    if stop >= size // 2:
        return head[: stop + 1]
    return head[:size].rsplit(" ", 1)[0]


def _told(line: Line, day: Callable[[Micros], str], short: Callable[[str], str]) -> str:
    known = line.known
    when = day(known.at) if known.at else "undated"
    remark = f" ({known.remark})" if known.remark else ""
    return f"- {when} {known.origin}: {line.text}{' …' if line.truncated else ''}{remark} [{short(known.id)}]"
