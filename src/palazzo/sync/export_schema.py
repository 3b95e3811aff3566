"""Schema of an export, generated from the record types: which lines are valid, for other programs."""

from __future__ import annotations

import inspect
from typing import Any

from palazzo.sync import derived_records
from palazzo.sync.field_codecs import fields_of, schema_of
from palazzo.sync.records.header_record import FORMAT, VERSION
from palazzo.sync.records.kind_registry import RECORD_KINDS

_ABOUT = (
    "Each line is one JSON object. The first is a header; kinds appear in the order of this list. A field with its "
    "default value is omitted. Times are microseconds since 1970-01-01 UTC, ids are 32 hexadecimal digits, text "
    "positions count code points and are half-open."
)

_LINES: dict[str, type] = {kind.name: kind.record_class for kind in RECORD_KINDS.values()} | {**derived_records.KINDS}


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
