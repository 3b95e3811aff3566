"""Reads the arguments of clients that were written for another server: what they mean counts, not how they spell it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from palazzo.mcp.schema import LARGEST_NUMBER, shown

_FLAGS = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}


def coerced(schema: Mapping[str, Any], value: Any) -> Any:
    """Return `value` in the type that `schema` names: numbers and flags are read from text, choices in any case.

    What cannot be read is returned as it is, for the schema's own check to name.
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


def clamped(schema: Mapping[str, Any], value: Any, name: str) -> tuple[Any, str]:
    """Return a number within the bounds of `schema`, and a sentence where it was not; any other value as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value, ""
    low, high = schema.get("minimum", -LARGEST_NUMBER), schema.get("maximum", LARGEST_NUMBER)
    if value < low:
        return low, f"'{name}' is {shown(value)}, below the least; {low} was used."
    if value > high:
        return high, f"'{name}' is {shown(value)}, above the most; {high} was used."
    return value, ""


def _flag(value: Any) -> Any:
    if isinstance(value, str):
        return _FLAGS.get(value.strip().lower(), value)
    return bool(value) if isinstance(value, int) and value in (0, 1) else value


def _number(value: Any) -> int | float | None:
    """The number that a value is or spells; None for none, and for what is not finite."""
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
