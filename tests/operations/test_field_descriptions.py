"""One description of a dataclass's fields, from which command lines, tools, JSON and calls of the service follow."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from palazzo.model import Micros
from palazzo.operations.operation import PERSON_ONLY, About, describe_fields
from palazzo.operations.serialisation import from_wire, to_json, to_wire
from palazzo.operations.validation import of_type


@dataclass(frozen=True, slots=True)
class Example:
    words: Annotated[str, About("What to look for.", positional=True)]
    kind: Annotated[Literal["a", "b"] | None, About("The kind.")] = None
    tags: tuple[str, ...] = ()
    at: Micros | None = None
    shown: Annotated[str, PERSON_ONLY] = ""
    more: Mapping[str, int] = field(default_factory=dict)


def test_a_field_is_described_once_for_all_who_read_it() -> None:
    words, kind, tags, at, shown, more = describe_fields(Example)
    assert (words.is_required, words.about.help, words.optional) == (True, "What to look for.", False)
    assert (kind.choices, kind.optional, kind.is_required) == (("a", "b"), True, False)
    assert (tags.is_repeatable, tags.default) == (True, ())
    assert [entry.name for entry in describe_fields(Example) if entry.is_time] == ["at"]
    assert [entry.name for entry in describe_fields(Example) if entry.is_person_only] == ["shown"]
    assert (more.is_required, more.default) == (False, {})
    assert shown.default == ""
    assert describe_fields(Example) is describe_fields(Example)
    assert dataclasses.MISSING is words.default
    assert at.type is Micros


def test_schema_json_and_calls_follow_from_the_description() -> None:
    words, kind, tags, *_ = describe_fields(Example)
    assert [of_type(entry.type) for entry in (words, kind, tags)] == [
        {"type": "string"},
        {"type": "string", "enum": ["a", "b"]},
        {"type": "array", "items": {"type": "string"}},
    ]
    example = Example("x", "b", ("t",), Micros(1_000_000), "only here", {"n": 1})
    assert from_wire(Example, to_wire(example)) == example
    assert from_wire(Example, {"words": "x"}) == Example("x")
    written = to_json(example)
    assert (written["at"], "shown" in written) == ("1970-01-01T00:00:01Z", False)
