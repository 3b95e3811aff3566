"""Lines as the schema of an export allows them: what other programs may write."""

from __future__ import annotations

import base64
import string
from typing import Any

from hypothesis import strategies as st

from palazzo.sync.export_schema import schema

SCHEMA = schema()
_HEX = st.binary(max_size=8).map(bytes.hex)
_IDS = st.integers(0, 5).map(lambda n: f"{n:032x}")
_WORDS = st.text(max_size=12) | st.text(string.ascii_letters, max_size=12)
_FEW = st.dictionaries(_WORDS, st.none() | st.booleans() | st.integers() | _WORDS, max_size=3)


def lines_of(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """Objects of one kind."""
    return _values(SCHEMA["$defs"][kind])


def _values(told: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "const" in told:
        return st.just(told["const"])
    if "enum" in told:
        return st.sampled_from(told["enum"])
    if "oneOf" in told:
        return st.one_of(*map(_values, told["oneOf"]))
    if told.get("description", "").startswith("[kind, start"):
        return st.tuples(st.just("text"), st.integers(0, 9), st.integers(0, 9)).map(list)
    kind = told["type"][0] if isinstance(told["type"], list) else told["type"]
    match kind:
        case "string":
            return {"^[0-9a-f]{32}$": _IDS, "^([0-9a-f]{2})*$": _HEX}.get(told.get("pattern", ""), _WORDS)
        case "integer":
            return st.integers(told["minimum"], told["maximum"]) | st.integers(0, 3)
        case "number":
            return st.floats(told["minimum"], told["maximum"]) | st.integers(0, 1)
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(_values(told["items"]), min_size=told.get("minItems", 0), max_size=3)
        case _:
            return _objects(told)


def _objects(told: dict[str, Any]) -> st.SearchStrategy[Any]:
    properties = told.get("properties")
    if properties is None:
        return _FEW
    if [*properties] == ["base64"]:
        return st.binary(max_size=9).map(lambda data: {"base64": base64.b64encode(data).decode()})
    must = {name: _values(one) for name, one in properties.items() if name in told["required"]}
    may = {name: _values(one) for name, one in properties.items() if name not in told["required"]}
    return st.fixed_dictionaries(must, optional=may)
