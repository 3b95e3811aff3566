"""The format of answers: one text block of JSON with the documented fields, or a list where that is documented."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from palazzo.errors import NotFound
from palazzo.operations.agent_tools.tool import Answer
from palazzo.operations.agent_tools.tool_answers import LIST, NOTICE, TEXT, shape
from palazzo.operations.shared_views import HitSource
from palazzo.text.file_uris import path_of

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


def failure_without_success(why: str, error: Exception | None = None) -> Answer:
    """Return the answer of a tool whose result never has the field `success`."""
    return Answer({"error": why}, failed=True)


def failure_with_suggestions(why: str, error: Exception | None) -> Answer:
    """Return the same with names that may have been meant."""
    near = list(error.near) if isinstance(error, NotFound) else []
    return Answer({"error": why, "suggestions": near}, failed=True)


def rest(left_out: int) -> dict[str, int]:
    """Return the field with the number of left-out rows, if any."""
    return {"left_out": left_out} if left_out else {}


def source_file(source: HitSource) -> str:
    """Return the source of a text: a file's path, or another URI; '' for one that was filed here."""
    parts = urlsplit(source.uri)
    if parts.scheme == "palazzo":
        return ""
    return str(path_of(source.uri)) if parts.scheme == "file" else source.uri
