"""Sessions that are one JSON file each: as much of a damaged or half-written one as can be read."""

from __future__ import annotations

import json

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats.jsonl_rows import JsonObject
from palazzo.sources.formats.row_records import elements


def read_records(text: str, start: int, name: str) -> tuple[list[object], str]:
    """Return the elements of the JSON array that begins at `start`, and why reading ended early; "" if it did not.

    Raises SourceUnreadable if there is no array, or nothing of it can be read.
    """
    records: list[object] = []
    try:
        records.extend(value for _, value in elements(text[start:], name))
    except SourceUnreadable as error:
        if not records:
            raise
        return records, str(error).rstrip(".")
    return records, ""


def read_records_so_far(text: str, start: int, name: str) -> tuple[list[object], str]:
    """Return the same; no elements where nothing can be read, as in a session that is just being written."""
    try:
        return read_records(text, start, name)
    except SourceUnreadable as error:
        return [], str(error).rstrip(".")


def read_header(text: str, end: int) -> JsonObject:
    """Return the fields of an object that stand before `end`, so that damage behind it costs none of them."""
    try:
        header = json.loads(text[:end].rstrip().removesuffix(",") + "}", strict=False)
    except (ValueError, RecursionError):
        return {}
    return header if isinstance(header, dict) else {}
