"""The schema of an export, made from the records: what a line may be, for programs of others."""

from __future__ import annotations

import inspect
from typing import Any

from palazzo.sync import derived_records
from palazzo.sync.field_codecs import fields_of, schema_of
from palazzo.sync.record_lines import KINDS
from palazzo.sync.record_types import FORMAT, VERSION

_ABOUT = (
    "Each line is one JSON object. The first is a header; kinds stand in the order of this list. A field that has its "
    "default is left out. Times are microseconds since 1970-01-01 UTC, ids 32 hexadecimal digits, places in a text "
    "count code points and are half-open."
)

_LINES: dict[str, type] = {**KINDS, **derived_records.KINDS}


def schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of one line."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"One line of a {FORMAT} export, version {VERSION}",
        "description": _ABOUT,
        "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in _LINES],
        "$defs": {kind: _record(kind, cls) for kind, cls in _LINES.items()},
    }


def _record(kind: str, cls: type) -> dict[str, Any]:
    record_schema: dict[str, Any] = schema_of(fields_of(cls))
    return {
        "description": " ".join((inspect.getdoc(cls) or "").split()),
        **record_schema,
        "properties": {"kind": {"const": kind}, **record_schema["properties"]},
        "required": ["kind", *record_schema["required"]],
    }
