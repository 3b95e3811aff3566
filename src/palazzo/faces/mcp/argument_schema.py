"""JSON Schema of a request's fields, and validation of given values: the part of the standard that tools need."""

from __future__ import annotations

import json
import types
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Union, get_args, get_origin

from palazzo.operations.operation import About

Schema = Mapping[str, Any]

_PLAIN: dict[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_WORDS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
_LONGEST_VALUE = 40
LARGEST_NUMBER = 2**53
"""Larger whole numbers are not exact in every JSON parser, and SQLite's limit is not much larger."""


def of_type(kind: Any) -> dict[str, Any]:
    """Return the schema of a type that requests use: text, numbers, flags, choices, and tuples of those."""
    bare = _bare(kind)
    if get_origin(bare) is Literal:
        return {"type": "string", "enum": list(get_args(bare))}
    if get_origin(bare) is tuple:
        return {"type": "array", "items": of_type(get_args(bare)[0])}
    return {"type": _PLAIN[bare]}


def problems(schema: Schema, value: object, name: str) -> Iterator[str]:
    """Yield what in `value` does not fit, each as a sentence that names the place; nothing if all fits."""
    kind = schema.get("type")
    if kind is not None and not _is(str(kind), value):
        yield f"'{name}' must be {_WORDS[str(kind)]}, not {preview_value(value)}."
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


def _is(kind: str, value: object) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return (isinstance(value, int) and not isinstance(value, bool)) or (
                isinstance(value, float) and value.is_integer()
            )
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case _:
            return isinstance(value, dict)


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
            yield f"'{name}.{field}' is missing."
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


def _bare(kind: Any) -> Any:
    """Return the type without its description, and without None."""
    if getattr(kind, "__metadata__", None) and any(isinstance(annotation, About) for annotation in kind.__metadata__):
        return _bare(kind.__origin__)
    if get_origin(kind) in (Union, types.UnionType):
        (member,) = [member for member in get_args(kind) if member is not type(None)]
        return _bare(member)
    return kind
