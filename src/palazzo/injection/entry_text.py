"""What an agent is given, as text: a line that says what it is, then entries, each with its id, date, origin and words.

Pure. How it is written is `layout`'s.
"""

from __future__ import annotations

from dataclasses import dataclass

from palazzo.injection.block_layout import MOST, render_entries
from palazzo.store.ledger import Part

__all__ = ["MOST", "Entry", "render_entries"]


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to be told. `id` reads all of it, `where` is its wing and room, `who` says it, `label` what it is."""

    part: Part
    day: str
    place: str
    speaker: str
    text: str
    label: str = ""
    truncated: bool = False

    @property
    def id(self) -> str:
        """Its id, as it is shown."""
        return self.part.uid
