"""A palace that has something for every tool of every profile."""

from __future__ import annotations

from pathlib import Path

from palazzo.model import Place
from palazzo.palace import Palace

NOTES = (
    "The deploy port is 8443, since the proxy holds 443.",
    "Retries double after each failure, and stop after five.",
)


def stock(path: Path) -> None:
    """File a few notes."""
    with Palace.open(path) as palace:
        for note in NOTES:
            palace.remember(note, Place("acme", "notes"))
