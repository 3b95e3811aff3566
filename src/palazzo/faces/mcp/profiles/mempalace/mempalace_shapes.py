"""The format of answers: one text block of JSON with the documented fields, or a list where that is documented."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from palazzo.errors import NotFound
from palazzo.faces.mcp.entry_lines import LIST, MOST, NOTICE, TEXT, shape
from palazzo.faces.mcp.tool import Answer
from palazzo.features.search.hits import HitSource
from palazzo.model import Micros
from palazzo.text.times import to_iso

_LEAST = 200
"""Minimum characters of a row's text that are shown if not all of them fit."""
RESULT = shape(result=LIST)
"""The schema of an answer that is a list: structured content is always an object."""
ERROR = {"type": "object", "properties": {"error": TEXT}}


def document(fields: Mapping[str, Any]) -> Answer:
    """Return an answer of these fields."""
    return Answer(fields, document=fields)


def answer_with_notice(fields: Mapping[str, Any]) -> Answer:
    """Return an answer of fields with stored text. Only the form for models begins with a notice."""
    return Answer({"notice": f"{NOTICE}.", **fields}, document=fields)


def listing(rows: Sequence[Any]) -> Answer:
    """Return an answer that is a list."""
    return Answer({"result": list(rows)}, document=list(rows))


def failure(why: str, error: Exception | None = None) -> Answer:
    """Return the answer in place of a result."""
    return Answer({"success": False, "error": why}, failed=True)


def failure_with_suggestions(why: str, error: Exception | None) -> Answer:
    """Return the same with names that may have been meant."""
    near = list(error.near) if isinstance(error, NotFound) else []
    return Answer({"error": why, "suggestions": near}, failed=True)


def fit_rows(rows: Sequence[Mapping[str, Any]], words: str) -> tuple[list[dict[str, Any]], int]:
    """Return as many rows as one answer may hold, and how many are left out; the last may say that it is truncated.

    `words` names the field of a row that may be cut.
    """
    fitting_rows: list[dict[str, Any]] = []
    remaining_chars = MOST
    for row in rows:
        size = len(json.dumps(row, ensure_ascii=False))
        text_length = len(row[words]) - max(size - remaining_chars, 0)
        if size > remaining_chars:
            if not fitting_rows or text_length >= _LEAST:
                fitting_rows.append({**row, words: row[words][: max(text_length, 0)], "truncated": True})
            break
        remaining_chars -= size
        fitting_rows.append(dict(row))
    return fitting_rows, len(rows) - len(fitting_rows)


def rest(left_out: int) -> dict[str, int]:
    """Return the field with the number of left-out rows, if any."""
    return {"left_out": left_out} if left_out else {}


def source_file(source: HitSource) -> str:
    """Return the source of a text: a file's path, or another URI; '' for one that was filed here."""
    parts = urlsplit(source.uri)
    if parts.scheme == "palazzo":
        return ""
    return url2pathname(parts.path) if parts.scheme == "file" else source.uri


def iso(moment: Micros) -> str | None:
    """Return a time, None if it is not known."""
    return to_iso(moment) if moment else None
