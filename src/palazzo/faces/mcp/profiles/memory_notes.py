"""Notes as other memories know them: one thing with one id."""

from __future__ import annotations

from collections.abc import Sequence


def id_of(item: str, drawers: Sequence[str]) -> str:
    """Return the id that a note goes by: its drawer's, which searches give; its own where it was cut into several."""
    return drawers[0] if len(drawers) == 1 else item
