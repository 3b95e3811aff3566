"""The wake-up text: of what is known, the few lines that are worth reading when a session starts. Pure.

    importance = recency × (what it is + marks + references + use) × decay

    recency     1 / (1 + age / half-life of its section): a session has half its value after a week, a decision after
                two months. Old entries fade ever more slowly: a project left for a year still has its last sessions
    what it is  by section: what is due counts most, then what is open, to-dos, decisions, facts, sessions, notes
    marks       0.5 for each of at most three tags that somebody set
    references  0.5 × log2(1 + number of facts and tunnels that rest on it)
    use         0.5 × log2(1 + number of sessions in which it was used)
    decay       less than 1 for what many sessions received and none used (`decay`); tasks never decay

The best of each section come first. Each further line of a section counts for less than the line before it, so that
twenty open threads leave room for a decision. Lines are taken in this order while the budget lasts, and shown in the
order of the sections. Every time in the text is a date, never an age: the same knowledge gives the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from palazzo.frozen_class import frozen
from palazzo.injection.decay import wear
from palazzo.model import Micros, Trust
from palazzo.text.similarity import Signature, containment, signature
from palazzo.text.token_counts import estimate_tokens

Depth = Literal["shallow", "medium", "deep"]
Section = Literal["due", "open", "todo", "decision", "fact", "team", "session", "diary", "note"]
DEPTHS: tuple[Depth, ...] = ("shallow", "medium", "deep")

BUDGETS: Mapping[Depth, int] = {"shallow": 300, "medium": 900, "deep": 2000}
"""In tokens."""
LONGEST: Mapping[Depth, int] = {"shallow": 140, "medium": 280, "deep": 560}
"""Maximum characters of one line's text."""
DEPTH_SECTIONS: Mapping[Depth, frozenset[Section]] = {
    "shallow": frozenset(["due", "open", "todo", "decision", "session"]),
    "medium": frozenset(["due", "open", "todo", "decision", "fact", "team", "session", "diary", "note"]),
    "deep": frozenset(["due", "open", "todo", "decision", "fact", "team", "session", "diary", "note"]),
}

TITLES: Mapping[Section, str] = {
    "due": "Due reminders:",
    "open": "Left open:",
    "todo": "To do:",
    "decision": "Current decisions:",
    "fact": "Recently changed facts:",
    "team": "Notes of teammates:",
    "session": "Last sessions:",
    "diary": "From the diary:",
    "note": "Notes:",
}
"""The sections in the order in which they are shown."""
WORTH: Mapping[Section, float] = {
    "due": 4.0,
    "open": 3.0,
    "todo": 3.0,
    "decision": 2.5,
    "fact": 1.5,
    "team": 1.5,
    "session": 1.5,
    "diary": 1.5,
    "note": 1.0,
}
"""Weights of the sections in a wake-up. Due reminders come first because that is their purpose."""
HALF_LIVES: Mapping[Section, float] = {
    "due": 3650.0,
    "open": 14.0,
    "todo": 60.0,
    "decision": 60.0,
    "fact": 30.0,
    "team": 14.0,
    "session": 7.0,
    "diary": 7.0,
    "note": 30.0,
}
"""In days. A reminder stays due until it is done; most open items of a session are closed within weeks without
mention.
"""
FIRST: Mapping[Depth, int] = {"shallow": 1, "medium": 2, "deep": 3}
"""Number of lines of each section that come before all other lines."""
_FALLOFF = 0.85
"""Factor for each further line of a section, relative to the line before: from about the fifth line on, other sections
come first.
"""
_TO_BE_DONE: frozenset[Section] = frozenset(["due", "todo"])
_MARKS = 3
_STEP = 0.5
_DAY = 86_400_000_000
_LEAST_LINE = 12
"""Minimum tokens left for a line: its date and its id take this many."""
_NEAR_COPY = 0.9
"""As in search: the share of a line's three-word sequences that another line contains."""
MORE = "More: palazzo search QUERY; palazzo show ID."


@frozen
class WakeUpEntry:
    """Something that may be shown: its text, its origin, its time, and the signals that raise its importance.

    `remark` is appended to the text (`due before 2026-03-04`); `at` is 0 if the time is not known.
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
    """Number of sessions that used it after it was shown to them."""
    unused: int = 0
    """Number of sessions that were shown it since then."""
    drawers: tuple[str, ...] = ()
    """Other ids under which it may have been shown."""


@frozen
class Line:
    """A line of the text: its entry, its words, whether they are cut (`truncated`), and the whole line as shown."""

    entry: WakeUpEntry
    text: str
    truncated: bool
    importance: float
    display_text: str = ""


@frozen
class WakeUpText:
    """The text, and its lines in the same order."""

    text: str
    lines: tuple[Line, ...]


def importance(entry: WakeUpEntry, now: Micros) -> float:
    """Return how important an entry is at `now`. An entry without a date counts as one half-life old."""
    half_life = HALF_LIVES[entry.section]
    age = max(0, now - entry.at) / _DAY if entry.at else half_life
    base_worth = WORTH[entry.section] + _STEP * min(entry.marks, _MARKS)
    rests = _STEP * math.log2(1 + entry.references) + _STEP * math.log2(1 + entry.uses)
    decay_factor = 1.0 if entry.section in _TO_BE_DONE else wear(entry.unused)
    return (base_worth + rests) * decay_factor / (1 + age / half_life)


def wake(
    head: Sequence[str],
    entries: Iterable[WakeUpEntry],
    depth: Depth,
    budget: int,
    now: Micros,
    day: Callable[[Micros], str],
    short: Callable[[str], str] = str,
) -> WakeUpText:
    """Return the text for `budget` tokens; `head` are ways to begin it, the best first.

    `day` formats a date, `short` formats an id.
    """
    beginning = next((candidate for candidate in head if estimate_tokens(candidate) <= budget), "")
    if not beginning:
        return WakeUpText("", ())
    remaining_tokens = budget - estimate_tokens(beginning)
    lines: list[Line] = []
    open_sections: set[Section] = set()
    signatures: list[Signature] = []
    footer_cost = estimate_tokens(MORE)
    for candidate_line in _rank_lines(
        (candidate for candidate in entries if candidate.section in DEPTH_SECTIONS[depth]), depth, now
    ):
        if remaining_tokens - footer_cost < _LEAST_LINE:
            break
        section = candidate_line.entry.section
        least = footer_cost + (0 if section in open_sections else estimate_tokens(TITLES[section]))
        if least + estimate_tokens(candidate_line.text) > remaining_tokens:
            continue
        line = replace(candidate_line, display_text=_format_line(candidate_line, day, short))
        cost = least - footer_cost + estimate_tokens(line.display_text)
        own = signature(line.entry.text)
        if cost + footer_cost <= remaining_tokens and not any(
            containment(own, line_signature) >= _NEAR_COPY for line_signature in signatures
        ):
            lines.append(line)
            signatures.append(own)
            open_sections.add(section)
            remaining_tokens -= cost
    return _text(beginning, lines, MORE if lines else "")


def _text(beginning: str, selection: Sequence[Line], footer: str) -> WakeUpText:
    lines = [beginning]
    ordered_lines: list[Line] = []
    for section, title in TITLES.items():
        own = [line for line in selection if line.entry.section == section]
        if own:
            lines += [title, *(line.display_text for line in own)]
            ordered_lines += own
    return WakeUpText("\n".join([*lines, footer] if footer else lines), tuple(ordered_lines))


def _rank_lines(entries: Iterable[WakeUpEntry], depth: Depth, now: Micros) -> list[Line]:
    """Return lines by their importance, reduced by the lines of their section that come before them."""
    counts: dict[Section, int] = {}
    weighted_lines: list[tuple[bool, float, Line]] = []
    for line in sorted((_line(entry, depth, now) for entry in entries), key=_by_importance):
        nth = counts.get(line.entry.section, 0)
        counts[line.entry.section] = nth + 1
        weighted_lines.append((nth >= FIRST[depth], line.importance * _FALLOFF**nth, line))
    return [line for _, _, line in sorted(weighted_lines, key=lambda one: (one[0], -one[1], one[2].entry.id))]


def _by_importance(line: Line) -> tuple[float, int, str]:
    return -line.importance, -line.entry.at, line.entry.id


def _line(entry: WakeUpEntry, depth: Depth, now: Micros) -> Line:
    words = " ".join(entry.text.split())
    text = _cut(words, LONGEST[depth])
    return Line(replace(entry, text=words), text, len(text) < len(words), importance(entry, now))


def _cut(words: str, size: int) -> str:
    """Return the beginning of a text: whole sentences if they fill most of the space, else whole words."""
    if len(words) <= size:
        return words
    head = words[: size + 1]
    stop = max(head.rfind(mark) for mark in (". ", "! ", "? ", "; ", "。"))
    if stop >= size // 2:
        return head[: stop + 1]
    return head[:size].rsplit(" ", 1)[0]


def _format_line(line: Line, day: Callable[[Micros], str], short: Callable[[str], str]) -> str:
    entry = line.entry
    date_text = day(entry.at) if entry.at else "undated"
    remark = f" ({entry.remark})" if entry.remark else ""
    return f"- {date_text} {entry.origin}: {line.text}{' …' if line.truncated else ''}{remark} [{short(entry.id)}]"
