"""What was learned on a branch, as Markdown for a pull request.

Recorded words were not written for display there, so they are made inert (`text/inert`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from palazzo.security.display_names import quoted_name
from palazzo.text.inert import inert

if TYPE_CHECKING:
    from palazzo.features.branches.contract import BranchReport, LearnedView
    from palazzo.model import Micros

TITLES = {
    "decisions": "Decisions",
    "learnings": "Learned",
    "fixes": "Fixed along the way",
    "facts": "Facts",
    "notes": "Notes",
    "todos": "Left to do",
    "threads": "Left open",
    "sessions": "Sessions",
}
"""The headings of the kinds, in display order."""
_LONGEST = 400
"""The most characters of one entry that are shown."""
_ID = 12


def markdown(base: str, tip: str, report: BranchReport, note: str, day: Callable[[Micros], str]) -> str:
    """Return the Markdown; long texts are cut. `note`, if given, says how the content was found.

    `day` formats a date.
    """
    lines = [f"## Learned on {inert(quoted_name(tip))}", ""]
    if note:
        lines += [inert(note), ""]
    empty = len(lines)
    for name, title in TITLES.items():
        entries: Sequence[LearnedView] = getattr(report, name)
        if entries:
            lines += [f"### {title}", "", *(_entry(name, entry, day) for entry in entries), ""]
    if len(lines) == empty:
        lines += [f"Nothing was recorded there that {inert(quoted_name(base))} does not have.", ""]
    if report.more:
        lines += [f"{report.more:,} more are not listed.", ""]
    return "\n".join(lines)


def _entry(kind: str, entry: LearnedView, day: Callable[[Micros], str]) -> str:
    words = " ".join(entry.text.split())
    if len(words) > _LONGEST:
        words = f"{words[:_LONGEST].rsplit(' ', 1)[0]} …"
    box = "[ ] " if kind == "todos" else ""
    by = ", ".join(filter(None, (day(entry.at) if entry.at else "", inert(entry.by), f"`{entry.id[:_ID]}`")))
    return f"- {box}{inert(words) or 'untitled'} ({by})"
