"""What was learned on a branch, as Markdown that goes into a pull request.

Where such a text is shown it does things: it draws in somebody by `@name`, refers to `#12`, closes what `fixes #12`
names, loads an image. Recorded words were not written for that, so whatever would do so is quoted as code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from palazzo.operations.branches import shown_name

if TYPE_CHECKING:
    from palazzo.model import Micros
    from palazzo.operations.diff import Learned, LearnedView

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
_CODE = re.compile(r"(`+)(?:(?!\1).)+?\1(?!`)")
_ACTS = re.compile(r"(?<![\w`])(?:@[\w][\w/-]*|(?:[\w.-]+/[\w.-]+)?#\d+|GH-\d+)")
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://\S*[^\s.,;:!?)\]}'\"]|\bwww\.\S*[^\s.,;:!?)\]}'\"]", re.IGNORECASE)


def markdown(base: str, tip: str, learned: Learned, note: str, day: Callable[[Micros], str]) -> str:
    """Return the text; of what is long the beginning. `note` says how it was found, if that is to be said.

    `day` tells a date.
    """
    lines = [f"## Learned on {inert(shown_name(tip))}", ""]
    if note:
        lines += [inert(note), ""]
    empty = len(lines)
    for name, title in TITLES.items():
        entries: Sequence[LearnedView] = getattr(learned, name)
        if entries:
            lines += [f"### {title}", "", *(_entry(name, one, day) for one in entries), ""]
    if len(lines) == empty:
        lines += [f"Nothing was recorded there that {inert(shown_name(base))} does not have.", ""]
    if learned.more:
        lines += [f"{learned.more:,} more are not listed.", ""]
    return "\n".join(lines)


def _entry(kind: str, one: LearnedView, day: Callable[[Micros], str]) -> str:
    words = " ".join(one.text.split())
    if len(words) > _LONGEST:
        words = f"{words[:_LONGEST].rsplit(' ', 1)[0]} …"
    box = "[ ] " if kind == "todos" else ""
    by = ", ".join(filter(None, (day(one.at) if one.at else "", inert(one.by), f"`{one.id[:_ID]}`")))
    return f"- {box}{inert(words) or 'untitled'} ({by})"


def inert(words: str) -> str:
    """Return words on one line that mean the same and do nothing where Markdown is shown."""
    parts, at = [], 0
    for code in _CODE.finditer(words):
        parts += [_plain(words[at : code.start()]), code.group()]
        at = code.end()
    return "".join([*parts, _plain(words[at:])])


def _plain(words: str) -> str:
    words = _ADDRESS.sub(lambda found: f"`{found.group().replace('`', '')}`", words.replace("`", "'"))
    kept, at = [], 0
    for code in _CODE.finditer(words):
        kept += [_quoted(words[at : code.start()]), code.group()]
        at = code.end()
    return "".join([*kept, _quoted(words[at:])])


def _quoted(words: str) -> str:
    words = words.replace("<", "&lt;").replace("![", "!\\[").replace("](", "]\\(")
    return _ACTS.sub(lambda found: f"`{found.group()}`", words)
