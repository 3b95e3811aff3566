"""What the answers to clients of other memories have in common: ids, times, and rows that fit into one answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from palazzo.model import Micros
from palazzo.operations.agent_tools.tool_answers import MOST
from palazzo.text.times import to_iso

_MIDNIGHT = "T00:00:00Z"
_LEAST = 200
"""Minimum characters of a row's text that are shown if not all of them fit."""


def id_of(item: str, drawers: Sequence[str]) -> str:
    """Return a note's ID: its drawer's, which searches return; its own if it was cut into several drawers."""
    return drawers[0] if len(drawers) == 1 else item


def iso(moment: Micros | None) -> str | None:
    """Return a time, None if it is not known."""
    return to_iso(moment) if moment else None


def first_day(moment: str | None) -> str | None:
    """Return the day of a start that is at midnight; any other time unchanged."""
    return None if moment is None else moment.removesuffix(_MIDNIGHT)


def last_day(moment: str | None) -> str | None:
    """Return the last day before an end that is at midnight; any other time unchanged."""
    if moment is None or not moment.endswith(_MIDNIGHT):
        return moment
    return (date.fromisoformat(moment[:10]) - timedelta(days=1)).isoformat()


def fit_rows(
    rows: Sequence[Mapping[str, Any]], words: str = "content", most: int = MOST
) -> tuple[list[dict[str, Any]], int]:
    """Return as many rows as fit into `most` characters, and how many are left out; the last may be truncated.

    `words` names the field of a row that may be cut; rows that do not have it are not cut.
    """
    fitting_rows: list[dict[str, Any]] = []
    remaining_chars = most
    for row in rows:
        size = len(json.dumps(row, ensure_ascii=False))
        text_length = len(row.get(words, "")) - max(size - remaining_chars, 0)
        if size > remaining_chars:
            if words in row and (not fitting_rows or text_length >= _LEAST):
                fitting_rows.append({**row, words: row[words][: max(text_length, 0)], "truncated": True})
            break
        remaining_chars -= size
        fitting_rows.append(dict(row))
    return fitting_rows, len(rows) - len(fitting_rows)
