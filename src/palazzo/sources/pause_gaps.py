"""Messages written during a pause: rows that are left out when their conversation is read. Pure.

A transcript is read as a whole, later; the times in its messages show which of them were written during a pause. A row
without a time belongs to the row before it; rows at the beginning without a time belong to the first row that has one.
If no row states a time, nothing is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from palazzo.model import Micros
from palazzo.sources.formats import Message, Row

Pause = tuple[Micros, Micros]
"""Start and end; the end is exclusive."""


def without_pauses(rows: Iterator[Row], pauses: Sequence[Pause]) -> Iterator[Row]:
    """Yield the rows that were not written during one of these pauses."""
    return _outside(rows, pauses) if pauses else rows


def _outside(rows: Iterator[Row], pauses: Sequence[Pause]) -> Iterator[Row]:
    undated_rows: list[Row] = []
    is_paused = has_time = False
    for row in rows:
        at = row.content.created_at if isinstance(row.content, Message) else None
        if at is not None:
            has_time, is_paused = True, any(begins <= at < ends for begins, ends in pauses)
        if not has_time:
            undated_rows.append(row)
            continue
        if not is_paused:
            yield from undated_rows
            yield row
        undated_rows.clear()
    yield from undated_rows
