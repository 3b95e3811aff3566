"""What was learned on a branch, as Markdown that goes into a pull request.

Recorded words were not written to be shown there, and do nothing in it (`text/inert`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from palazzo.features.branches.branch_labels import shown_name
from palazzo.text.inert import inert

if TYPE_CHECKING:
    from palazzo.features.branches.diff import BranchReport, LearnedView
    from palazzo.model import Micros

TITLES = {
    "decisions": "Decisions",
    "learnings": "Learned",
    "fixes": "Fixed on the way",
    "facts": "Facts",
    "notes": "Notes",
    "todos": "Left to do",
    "threads": "Left open",
    "sessions": "Sessions",
}
"""Each kind's heading, in order."""
_LONGEST = 400
"""Characters of one entry's words that are told."""
_ID = 12


def markdown(base: str, tip: str, report: BranchReport, note: str, day: Callable[[Micros], str]) -> str:
    """Return the text; of what is long the beginning. `note` says how it was found, if that is to be said.

    `day` tells a date.
    """
    lines = [f"## Learned on {inert(shown_name(tip))}", ""]
    if note:
        lines += [inert(note), ""]
    empty = len(lines)
    for name, title in TITLES.items():
        entries: Sequence[LearnedView] = getattr(report, name)
        if entries:
            lines += [f"### {title}", "", *(_entry(name, entry, day) for entry in entries), ""]
    if len(lines) == empty:
        lines += [f"Nothing was recorded there that {inert(shown_name(base))} does not have.", ""]
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
