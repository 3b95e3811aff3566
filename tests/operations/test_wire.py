"""The wire: what is sent is what arrives, of every operation there is."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NewType

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from palazzo.errors import UsageError
from palazzo.features.search.contract import SearchRequest
from palazzo.model import Micros
from palazzo.operations import registry
from palazzo.operations.serialisation import from_wire, to_wire

NAMES = list(registry.FEATURES)
TEXTS = st.text(st.characters(), max_size=8) | st.sampled_from(["\ud800", "\ud83d\ude00", "\x00", "nan", "🙂"])
SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXTS,
    bytes: st.binary(max_size=8),
    int: st.integers(),
    bool: st.booleans(),
    float: st.floats() | st.integers(-3, 3),
    Path: st.sampled_from([Path("/a/b"), Path("a b"), Path(), Path("n\udcff")]),
    types.NoneType: st.none(),
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "utf8", "float", "pairs", ""]) | TEXTS, inner, max_size=3)
    ),
    max_leaves=6,
)
SCALARS |= {Any: ANYTHING, object: ANYTHING}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """All that a type hint allows."""
    origin, members = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(hint, NewType):
        return values(hint.__supertype__)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return one_of_its_kind(hint)
    if origin is Literal:
        return st.sampled_from(members)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*map(values, members))
    if origin is tuple and members[-1] is not ...:
        return st.tuples(*map(values, members))
    if origin in (tuple, frozenset, list):
        return st.lists(values(members[0]), max_size=2).map(origin)
    if origin in (dict, Mapping) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return st.dictionaries(values(members[0]), values(members[1]), max_size=2)
    return SCALARS[hint]


def one_of_its_kind(kind: type) -> st.SearchStrategy[Any]:
    """Objects of a class, or of those that derive from it where it is only what they have in common."""
    known: list[type] = kind.__subclasses__()
    derived = [one for one in known if vars(sys.modules[one.__module__]).get(one.__name__) is one]
    if derived:  # and not what a class was before it got its slots
        return st.one_of(*map(one_of_its_kind, derived))
    hints = typing.get_type_hints(kind)
    return st.fixed_dictionaries({field.name: values(hints[field.name]) for field in dataclasses.fields(kind)}).map(
        lambda fields: kind(**fields)
    )


def there_and_back(kind: type, value: object) -> object:
    line = json.dumps(to_wire(value), ensure_ascii=False).encode()
    return from_wire(kind, json.loads(line))


def alike(one: object, other: object) -> bool:
    """Whether two are equal, also in their types, and NaN is NaN."""
    if type(one) is not type(other):
        return False
    if dataclasses.is_dataclass(one) and not isinstance(one, type):
        return all(alike(getattr(one, field.name), getattr(other, field.name)) for field in dataclasses.fields(one))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == other


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=4, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_every_operation_takes_and_gives_arrives_as_it_was(name: str, data: st.DataObject) -> None:
    found = registry.operation(name)
    for kind in (found.request, found.result):
        value = data.draw(values(kind))
        assert alike(there_and_back(kind, value), value)


@dataclass(frozen=True)
class Part:
    """A part of a whole."""

    at: Micros
    near: tuple[float, ...] = ()


@dataclass(frozen=True)
class Whole:
    """What has parts."""

    name: str
    parts: tuple[Part, ...] = ()
    pair: tuple[str, int] = ("", 0)
    tags: frozenset[str] = frozenset()
    counts: Mapping[str, int] = dataclasses.field(default_factory=dict)
    raw: bytes | None = None
    depth: Literal[1, "deep"] = 1


def test_what_is_left_out_is_what_it_is_by_default() -> None:
    assert from_wire(Whole, {"name": "a"}) == Whole("a")


@pytest.mark.parametrize(
    ("plain", "complaint"),
    [
        ({}, "'name' is missing"),
        ({"name": "a", "nmae": "b"}, "'nmae' is not a field here"),
        ({"name": 3}, "'name' must be a string, not 3"),
        ({"name": None}, "'name' must be a string, not None"),
        ({"name": {"utf8": "/w=="}}, "'name' must be a string"),
        ({"name": "a", "parts": {}}, "'parts' must be a list"),
        ({"name": "a", "parts": [{"at": "now"}]}, "'parts[0].at' must be an integer, not 'now'"),
        ({"name": "a", "parts": [{"at": True}]}, "'parts[0].at' must be an integer, not True"),
        ({"name": "a", "parts": [{"at": 1, "near": ["x"]}]}, "'parts[0].near[0]' must be a number"),
        ({"name": "a", "parts": [{}]}, "'parts[0].at' is missing"),
        ({"name": "a", "pair": ["x"]}, "'pair' must be a list of 2"),
        ({"name": "a", "counts": {"x": 1.5}}, "'counts.x' must be an integer"),
        ({"name": "a", "counts": {"pairs": [["x"]]}}, "'counts' must be an object"),
        ({"name": "a", "counts": {"pairs": [[["x"], 1]]}}, "'counts' must be an object"),
        ({"name": "a", "counts": 7}, "'counts' must be an object"),
        ({"name": "a", "raw": "%%"}, "'raw' must be bytes in base64"),
        ({"name": "a", "depth": True}, "'depth' must be one of 1, deep, not True"),
        ({"": "Other", "name": "a"}, "This must be Whole, not 'Other'"),
        ([], "This must be an object"),
    ],
)
def test_what_does_not_fit_is_refused_by_the_name_of_its_field(plain: object, complaint: str) -> None:
    with pytest.raises(UsageError) as raised:
        from_wire(Whole, plain)
    assert complaint in str(raised.value)


def test_of_what_is_large_and_does_not_fit_only_the_beginning_is_shown() -> None:
    with pytest.raises(UsageError) as raised:
        from_wire(SearchRequest, {"query": ["x" * 1_000_000] * 100})
    assert len(str(raised.value)) < 200


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["", "name", "parts", "at", "utf8", "pair", "raw", "counts", "pairs", "float"]), inner
            )
        ),
        max_leaves=8,
    )
)
def test_whatever_comes_it_is_read_or_refused(plain: object) -> None:
    try:
        read = from_wire(Whole, plain)
    except UsageError:
        return
    assert alike(there_and_back(Whole, read), read)
