"""Notes as other memories present them: one thing with one id."""

from __future__ import annotations

from collections.abc import Sequence


def id_of(item: str, drawers: Sequence[str]) -> str:
    """Return a note's ID: its drawer's, which searches return; its own if it was cut into several drawers."""
    return drawers[0] if len(drawers) == 1 else item
