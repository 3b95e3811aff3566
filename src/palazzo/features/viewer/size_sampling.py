"""Sampling of the palace's size: one sample for each day, for the plot of sizes over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.operations.caller_clock import day, zone
from palazzo.store import size_samples

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def sample_size(context: Context) -> None:
    """Record the size of the palace's file, unless today has a sample; make no palace for it."""
    if not context.has_palace:
        return
    today = day(context.now, zone(context))
    with context.reading().database.snapshot() as connection:
        if today in size_samples.read(connection):
            return
    with context.writing().database.transaction() as connection:
        size_samples.record(connection, today)
