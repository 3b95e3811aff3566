"""How search, show and wake-up look to a person."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.cli.screen import INDENT, Screen
from palazzo.model import Micros
from palazzo.operations.hits import HitView
from palazzo.operations.search import SearchResult
from palazzo.operations.show import Shown, ShowResult
from palazzo.operations.wake_up import WakeUpResult
from palazzo.text.times import to_iso
from palazzo.text.words import terms

MOST_LINES, MOST_CHARACTERS = 12, 1200
"""What one hit may show: a screen holds five hits, and the whole is one command away."""


def search(screen: Screen, result: SearchResult) -> None:
    """Show hits: a line of facts, the id, then the exact words."""
    asked = tuple(term.casefold() for term in terms(result.query))
    for rank, hit in enumerate(result.hits, 1):
        _hit(screen, rank, hit, asked, result.explained)
    screen.say((_summary(result), "dim"))
    if result.note:
        screen.say((result.note, "yellow"))
    elif result.index == "building":
        screen.say(
            ("Vectors are still being made: what is new is found by its words, and soon by its meaning.", "yellow")
        )


def _hit(screen: Screen, rank: int, hit: HitView, asked: Sequence[str], explained: bool) -> None:
    screen.say(
        (f"{rank}", "bold"),
        "  ",
        (f"{hit.score:.2f}", "green"),
        "  ",
        day(hit.created_at),
        "  ",
        (f"{hit.wing}/{hit.room}", "cyan"),
        f"  {hit.role}",
        (f"  {hit.title}" if hit.title else "", "bold"),
    )
    marks = [
        hit.branch and f"branch {hit.branch}",
        hit.trust == "external" and "external",
        hit.copies and f"{hit.copies} near-cop{'y' if hit.copies == 1 else 'ies'}",
    ]
    screen.say((f"{INDENT}{hit.id}", "dim"), ("".join(f"  {mark}" for mark in marks if mark), "yellow"))
    if explained:
        screen.say((f"{INDENT}{hit.source.uri}, {hit.source.locator}", "dim"))
        screen.say((f"{INDENT}{', '.join(hit.why)}", "dim"))
    start, text = excerpt(hit.text, asked)
    if start:
        screen.say((f"{INDENT}… from character {start:,} on:", "dim"))
    screen.exact(text)
    if len(text) < hit.length:
        screen.say((f"{INDENT}… {len(text):,} of {hit.length:,} characters; palazzo show {hit.id}", "dim"))
    screen.gap()


def _summary(result: SearchResult) -> str:
    count = len(result.hits)
    shown = f"{count} hit{'s' if count != 1 else ''}" if count else "Nothing found"
    where = f" in {result.scope.wing}" if result.scope.wing else ""
    return f"{shown}{where}, {result.total_candidates:,} candidates, {result.took_ms:,.0f} ms"


def show(screen: Screen, result: ShowResult) -> None:
    """Show a drawer with its neighbours, an item, or a session; or nothing but bytes."""
    if result.raw is not None:
        screen.bytes(result.raw)
        return
    if result.kind == "session":
        _session(screen, result)
        return
    for entry in result.before:
        _brief(screen, entry)
    for entry in result.entries:
        _entry(screen, result.kind, entry)
    for entry in result.after:
        _brief(screen, entry)


def _entry(screen: Screen, kind: str, entry: Shown) -> None:
    screen.say((f"{kind} {entry.id}", "bold"))
    facts = [
        ("title", entry.title),
        ("kind", entry.kind),
        ("filed in", f"{entry.wing}/{entry.room}"),
        ("said by", f"{entry.role} {entry.author}".strip()),
        ("at", moment(entry.created_at)),
        ("recorded", moment(entry.recorded_at)),
        ("retired", moment(entry.retired_at) if entry.retired_at else ""),
        ("source", f"{entry.source.uri}, {entry.source.locator}"),
        ("session", entry.source.session_id),
        ("trust", entry.trust),
        ("branch", f"{entry.branch} {entry.commit}".strip()),
        ("tags", ", ".join(entry.tags)),
        ("drawers", " ".join(entry.drawers)),
    ]
    screen.table(("", ""), [((name, "dim"), value) for name, value in facts if value])
    screen.gap()
    screen.exact(entry.text, indent="")
    screen.gap()


def _brief(screen: Screen, entry: Shown) -> None:
    screen.say((f"{entry.id}  {entry.source.locator}  {entry.role}", "dim"))
    screen.exact(entry.text)
    screen.gap()


def _session(screen: Screen, result: ShowResult) -> None:
    title = next((entry.title for entry in result.entries if entry.title), "")
    screen.say((f"session {result.id}", "bold"), f"  {title}")
    screen.gap()
    for entry in result.entries:
        screen.say((f"{entry.role}  {moment(entry.created_at)}  {entry.id}", "cyan"))
        screen.exact(entry.text)
        screen.gap()
    screen.say((f"{len(result.entries):,} messages", "dim"))


def wake_up(screen: Screen, result: WakeUpResult) -> None:
    """Show the text as an agent gets it."""
    screen.exact(result.text, indent="")


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


def beginning(text: str) -> str:
    """Return as much of `text` as one hit may show, cut at the end of a line or word."""
    lines = text.split("\n")
    kept = "\n".join(lines[:MOST_LINES])
    if len(kept) <= MOST_CHARACTERS:
        return kept
    head = kept[:MOST_CHARACTERS]
    for mark in ("\n", " "):
        at = head.rfind(mark)
        if at > MOST_CHARACTERS // 2:
            return head[:at]
    return head


def day(at: Micros) -> str:
    """Return the date, or a word where it is not known."""
    return to_iso(at)[:10] if at else "undated"


def moment(at: Micros | None) -> str:
    """Return the time to the second, or a word where it is not known."""
    return to_iso(at) if at else "not known"
