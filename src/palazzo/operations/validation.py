"""What is wrong with a value from outside, in sentences: its type, its bounds, its choices, the names of its members.

Tools check arguments by a JSON Schema, of which this is the part that they need. Calls of the service, pages and
checkpoints check values by the types of a dataclass (`serialisation`). The types, and the words for them, are the same.
"""

from __future__ import annotations

import json
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from palazzo.operations.operation import bare_type

Schema = Mapping[str, Any]

LARGEST_NUMBER = 2**53
"""Larger whole numbers are not exact in every JSON parser, and SQLite's limit is not much larger."""
COLLECTIONS: Mapping[type, type] = {tuple: tuple, list: list, frozenset: frozenset, set: set, Sequence: tuple}
"""Types of a request that are a list in JSON, and what holds their members."""
_TYPES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
}
_SCHEMA_NAMES = {kind: name for name, kind in _TYPES.items()}
_WORDS: Mapping[Any, str] = {
    str: "a string",
    bytes: "bytes in base64",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    Path: "a path",
    types.NoneType: "null",
    **dict.fromkeys(COLLECTIONS, "a list"),
}
_LONGEST_VALUE = 40


def describe_type(hint: Any) -> str:
    """Describe in words what a type accepts."""
    hint = bare_type(hint)
    origin = get_origin(hint) or hint
    if origin is Literal:
        return "one of " + ", ".join(str(option) for option in get_args(hint))
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(describe_type, get_args(hint))))
    return _WORDS.get(origin, "an object")


def fits(kind: type, value: object) -> bool:
    """Return whether a JSON value is of a type: `str`, `bool`, `int`, `float`, `list` or `dict`."""
    return isinstance(value, int | float if kind is float else kind) and isinstance(value, bool) is (kind is bool)


def misfit(place: str, requirement: str, preview: str) -> str:
    """Return the sentence for a value of another type: where it stands, what it must be, and what it is."""
    subject = f"'{place}'" if place else "This"
    return f"{subject} must be {requirement}, not {preview}."


def missing(place: str) -> str:
    """Return the sentence for a value that is required and not given."""
    return f"'{place}' is missing."


def of_type(kind: Any) -> dict[str, Any]:
    """Return the schema of a type that requests use: text, numbers, flags, choices, and tuples of those."""
    if get_origin(kind) is Literal:
        return {"type": "string", "enum": list(get_args(kind))}
    if get_origin(kind) is tuple:
        return {"type": "array", "items": of_type(get_args(kind)[0])}
    return {"type": _SCHEMA_NAMES[kind]}


def problems(schema: Schema, value: object, name: str) -> Iterator[str]:
    """Yield what in `value` does not fit, each as a sentence that names the place; nothing if all fits."""
    kind = schema.get("type")
    if kind is not None and not _fits_schema(_TYPES[kind], value):
        yield misfit(name, describe_type(_TYPES[kind]), preview_value(value))
    elif "enum" in schema and value not in schema["enum"]:
        yield f"'{name}' is {preview_value(value)}; it must be one of {', '.join(map(str, schema['enum']))}."
    elif kind == "array":
        yield from _of_array(schema, value, name)
    elif kind == "object":
        yield from _of_object(schema, value, name)
    elif kind in ("integer", "number"):
        yield from _of_number(schema, value, name)


def preview_value(value: object) -> str:
    """Return a given value as it is shown in messages: the beginning of its JSON."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _fits_schema(kind: type, value: object) -> bool:
    return fits(kind, value) or (kind is int and isinstance(value, float) and value.is_integer())


def _of_array(schema: Schema, value: Any, name: str) -> Iterator[str]:
    if len(value) < schema.get("minItems", 0):
        yield f"'{name}' is empty."
    items = schema.get("items", {})
    for n, member in enumerate(value):
        yield from problems(items, member, f"{name}[{n}]")


def _of_object(schema: Schema, value: Any, name: str) -> Iterator[str]:
    properties = schema.get("properties")
    if properties is None:
        return
    for field in schema.get("required", ()):
        if field not in value:
            yield missing(f"{name}.{field}")
    for field, member in value.items():
        if field in properties:
            yield from problems(properties[field], member, f"{name}.{field}")
        elif schema.get("additionalProperties") is False:
            yield f"'{name}.{field}' is unknown; known names: {', '.join(properties)}."


def _of_number(schema: Schema, value: Any, name: str) -> Iterator[str]:
    low, high = schema.get("minimum", -LARGEST_NUMBER), schema.get("maximum", LARGEST_NUMBER)
    if value != value:  # NaN, which some clients send although JSON has none
        yield f"'{name}' is not a number."
    elif value < low:
        yield f"'{name}' is {preview_value(value)}; it must be at least {low}."
    elif value > high:
        yield f"'{name}' is {preview_value(value)}; it must be at most {high}."
