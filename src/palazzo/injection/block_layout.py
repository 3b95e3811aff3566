"""How what an agent is given is written: a line that says what it is, then entries, inside the fence.

Pure. Facts, not orders: the words are quoted, and whatever in them looks like the fence is escaped (`security/fences`).
The same entries give the same bytes; there is no clock in it. A hook that answers by itself writes with this too, so it
imports next to nothing.
"""

from __future__ import annotations

from palazzo.security.display_names import shown_name, shown_place
from palazzo.security.fences import fence_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol

    class Entry(Protocol):
        """What is written of an entry; `id` reads all of it."""

        @property
        def id(self) -> str: ...
        @property
        def day(self) -> str: ...
        @property
        def place(self) -> str: ...
        @property
        def speaker(self) -> str: ...
        @property
        def text(self) -> str: ...
        @property
        def label(self) -> str: ...
        @property
        def truncated(self) -> bool: ...


MOST = 9_000
"""Characters of a whole text, fence and all. From 10,000 on one host puts what a hook gives it into a file instead of
before the model, and another cuts it. The entries were cut to a budget of tokens long before."""


def render_entries(head: str, entries: Sequence[Entry]) -> str:
    """Return the whole text; empty where there is nothing to tell. What would be too long is left out, from the end."""
    visible_entries = list(entries)
    while visible_entries:
        text = fence_text("\n".join([head, *_lines(visible_entries), *_left_out(len(entries) - len(visible_entries))]))
        if len(text) <= MOST:
            return text
        visible_entries.pop()
    return ""


def _lines(entries: Iterable[Entry]) -> Iterable[str]:
    for entry in entries:
        about = ", ".join(filter(None, (entry.day, shown_place(entry.place), shown_name(entry.speaker), entry.label)))
        about = " ".join(about.split())  # an author's name, too, is somebody's words
        first, *rest = entry.text.splitlines() or [""]  # any end of a line: none of them begins another entry
        cut = [f"  (cut here; `read` {entry.id} has all of it)"] if entry.truncated else []
        yield "\n".join([f"- [{entry.id}] {about}: {first}", *(f"  {line}" for line in rest), *cut])


def _left_out(count: int) -> list[str]:
    return [f"({count} more; `search` finds them)"] if count else []
