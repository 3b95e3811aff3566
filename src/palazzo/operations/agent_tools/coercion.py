"""Coercion of argument values from clients that were written for another server and follow schemas less strictly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from palazzo.operations.validation import LARGEST_NUMBER, preview_value

_FLAGS = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}


def coerce(schema: Mapping[str, Any], value: Any) -> Any:
    """Return `value` in the type of `schema`: numbers and flags may be text, and choices may have any case.

    A value that cannot be converted is returned unchanged; the schema's own check reports it.
    """
    kind = schema.get("type")
    if kind == "boolean":
        return _flag(value)
    if kind in ("integer", "number"):
        number = _number(value)
        return value if number is None else int(number) if kind == "integer" else number
    if "enum" in schema and isinstance(value, str):
        return next((choice for choice in schema["enum"] if choice.casefold() == value.strip().casefold()), value)
    return value


def clamp(schema: Mapping[str, Any], value: Any, name: str) -> tuple[Any, str]:
    """Return a number clamped to the bounds of `schema`, and a sentence if it changed; other values unchanged."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value, ""
    low, high = schema.get("minimum", -LARGEST_NUMBER), schema.get("maximum", LARGEST_NUMBER)
    if value < low:
        return low, f"'{name}' is {preview_value(value)}, below the minimum; {low} was used."
    if value > high:
        return high, f"'{name}' is {preview_value(value)}, above the maximum; {high} was used."
    return value, ""


def _flag(value: Any) -> Any:
    if isinstance(value, str):
        return _FLAGS.get(value.strip().lower(), value)
    return bool(value) if isinstance(value, int) and value in (0, 1) else value


def _number(value: Any) -> int | float | None:
    """Return the finite number that a value is or spells; None if it is not one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = float(value) if not value.strip().lstrip("+-").isdecimal() else int(value)
        except ValueError:
            return None
    if isinstance(value, int):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else None
