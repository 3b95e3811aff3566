"""Layout of an injected block: a line that says what it is, then entries, inside the fence.

Pure. The block states facts and gives no orders: the text is quoted, and whatever in it looks like the fence is escaped
(`security/fences`). It contains no time of day, so the same entries give the same bytes. A hook that answers without
the service uses this module too, so it imports almost nothing.
"""

from __future__ import annotations

from palazzo.security.display_names import shown_name, shown_place
from palazzo.security.fences import fence_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol

    class Entry(Protocol):
        """The displayed parts of an entry. Reading `id` returns the full text."""

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
"""Maximum characters of a whole text, including the fence. From 10,000 on, one host writes a hook's output to a file
instead of showing it to the model, and another truncates it. The entries were cut to a token budget long before.
"""


def render_entries(head: str, entries: Sequence[Entry]) -> str:
    """Return the whole text; empty if there is nothing to show. What does not fit is left out, from the end."""
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
        cut = [f"  (truncated; `read` {entry.id} returns the whole text)"] if entry.truncated else []
        yield "\n".join([f"- [{entry.id}] {about}: {first}", *(f"  {line}" for line in rest), *cut])


def _left_out(count: int) -> list[str]:
    return [f"({count} more; `search` finds them)"] if count else []
