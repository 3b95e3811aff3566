"""Entries as text for an agent: a line that says what they are, then each entry with its id, date, origin and text.

Pure. The format itself is defined in `block_layout`.
"""

from __future__ import annotations

from palazzo.frozen_class import frozen
from palazzo.injection.block_layout import MOST, render_entries
from palazzo.store.ledger import Part

__all__ = ["MOST", "Entry", "render_entries"]


@frozen
class Entry:
    """An entry to show. `id` reads the full text, `place` is its wing and room, `speaker` its author, `label` its
    kind.
    """

    part: Part
    day: str
    place: str
    speaker: str
    text: str
    label: str = ""
    truncated: bool = False

    @property
    def id(self) -> str:
        """Return its id, as shown."""
        return self.part.uid
