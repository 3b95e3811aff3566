"""What an agent is given, as text: a line that says what it is, then entries, each with its id, date, origin and words.

Pure. Facts, not orders: the words are quoted, and whatever in them looks like the fence is escaped (`guard/fences`).
The same entries give the same bytes; there is no clock in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from palazzo.guard.fences import fenced
from palazzo.store.ledger import Part

MOST = 9_000
"""Characters of a whole text, fence and all. From 10,000 on one host puts what a hook gives it into a file instead of
before the model, and another cuts it. The entries were cut to a budget of tokens long before."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to be told. `id` reads all of it, `where` is its wing and room, `who` says it, `label` what it is."""

    part: Part
    day: str
    where: str
    who: str
    text: str
    label: str = ""
    truncated: bool = False

    @property
    def id(self) -> str:
        """Its id, as it is shown."""
        return self.part.uid


def told(head: str, entries: Sequence[Entry]) -> str:
    """Return the whole text; empty where there is nothing to tell. What would be too long is left out, from the end."""
    kept = list(entries)
    while kept:
        text = fenced("\n".join([head, *_lines(kept), *_left_out(len(entries) - len(kept))]))
        if len(text) <= MOST:
            return text
        kept.pop()
    return ""


def _lines(entries: Iterable[Entry]) -> Iterable[str]:
    for entry in entries:
        about = ", ".join(filter(None, (entry.day, entry.where, entry.who, entry.label)))
        first, *rest = entry.text.split("\n")
        cut = [f"  (cut here; `read` {entry.id} has all of it)"] if entry.truncated else []
        yield "\n".join([f"- [{entry.id}] {about}: {first}", *(f"  {line}" for line in rest), *cut])


def _left_out(count: int) -> list[str]:
    return [f"({count} more; `search` finds them)"] if count else []
