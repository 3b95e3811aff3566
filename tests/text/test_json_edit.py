"""JSON is changed in one place at a time, and what is added can be taken away without a trace."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palazzo.text import json_edit

SPACE = st.text(" \t\r\n", max_size=4)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
OURS = {"hooks": [{"type": "command", "command": "palazzo"}]}


@st.composite
def written(draw: st.DrawFn, depth: int = 3) -> str:
    """JSON as nobody writes it: any whitespace, escapes, keys that are there twice, numbers of any shape."""
    gap = draw(SPACE)
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(["null", "true", "-0.0e+9", '"\\u00e9\\/\\"]}"', '"{[,:"', "1" * 5000, '"é"']))
    if draw(st.booleans()):
        inside = ",".join(gap + draw(written(depth - 1)) + draw(SPACE) for _ in range(draw(st.integers(0, 3))))
        return f"[{inside or gap}]"
    keys = draw(st.lists(st.sampled_from(["hooks", "Stop", "a", '\\"', "\\u0061"]), max_size=3))
    inside = ",".join(f'{gap}"{key}"{draw(SPACE)}:{draw(SPACE)}{draw(written(depth - 1))}{gap}' for key in keys)
    return f"{{{inside or gap}}}"


def containers(text: str) -> list[tuple[int, ...]]:
    """The trails of all containers in a text."""
    found: list[tuple[int, ...]] = []

    def below(node: json_edit.Node, trail: tuple[int, ...]) -> None:
        if node.kind != "plain":
            found.append(trail)
        for n, part in enumerate(node.parts):
            below(part.value, (*trail, n))

    below(json_edit.read(text), ())
    return found


def loaded(text: str) -> Any:
    """What a text says, with keys that are there twice, and numbers as they are written."""
    return json.loads(text, object_pairs_hook=lambda pairs: ("object", pairs), parse_int=str, parse_float=str)


@settings(max_examples=20, deadline=None)
@given(text=written(), before=SPACE, after=SPACE, data=st.data())
def test_what_is_added_anywhere_is_removed_without_a_trace(text: str, before: str, after: str, data: Any) -> None:
    text = before + text + after
    places = containers(text)
    if not places:
        return
    trail = data.draw(st.sampled_from(places))
    node = json_edit.at(json_edit.read(text), trail)
    key = "ours" if node.kind == "object" else None
    more = json_edit.added(text, trail, OURS, key)
    there = json_edit.at(json_edit.read(more), trail)
    assert there.parts[-1].value.content == OURS
    assert there.parts[-1].key == key
    # another on top of it, a change of the first, and all away again in either order
    two = json_edit.added(more, trail, [OURS], key)
    n = len(node.parts)
    two = json_edit.replace_value(two, (*trail, n), {"other": 1})
    for first, second in ((n, n), (n + 1, n)):
        one = json_edit.remove_part(two, (*trail, first))
        assert one is not None
        assert json_edit.remove_part(one, (*trail, second)) == text
    assert json_edit.remove_part(more, (*trail, n)) == text


@settings(max_examples=12, deadline=None)
@given(text=written(), data=st.data())
def test_every_other_value_and_its_order_stay(text: str, data: Any) -> None:
    places = containers(text)
    if not places:
        return
    trail = data.draw(st.sampled_from(places))
    node = json_edit.at(json_edit.read(text), trail)
    more = loaded(json_edit.added(text, trail, 7, "ours" if node.kind == "object" else None))

    def drop(found: Any, rest: tuple[int, ...]) -> None:
        inside = found[1] if isinstance(found, tuple) else found
        if not rest:
            last = inside.pop()
            assert last in (("ours", "7"), "7")
            return
        child = inside[rest[0]]
        drop(child[1] if isinstance(found, tuple) else child, rest[1:])

    drop(more, trail)
    assert more == loaded(text)


def test_what_was_made_for_it_goes_with_it() -> None:
    text = '{\n  "model": "x"\n}\n'
    more = json_edit.added(text, (), {"Stop": [OURS]}, "hooks")
    assert json_edit.remove_part(more, (1, 0, 0)) == text
    assert json_edit.remove_part(json_edit.new({"hooks": {"Stop": [OURS]}}), (0, 0, 0)) is None


@pytest.mark.parametrize("empty", ["{}", "{ }", "{\n}", "{\n\n  }\n", "{}\n", "\r\n{}\r\n", "{\t}"])
def test_a_container_that_was_empty_stays(empty: str) -> None:
    more = json_edit.added(empty, (), {"Stop": [OURS]}, "hooks")
    assert json_edit.remove_part(more, (0, 0, 0)) == empty


def test_it_is_written_as_its_neighbours_are() -> None:
    assert json_edit.added('{\n\t"a": 1\n}\n', (), [2], "b") == '{\n\t"a": 1,\n\t"b": [\n\t\t2\n\t]\n}\n'
    assert json_edit.added('{"a":1}', (), [2, 3], "b") == '{"a":1,"b":[2,3]}'
    assert json_edit.added('{"a": 1}', (), [2], "b") == '{"a": 1, "b": [2]}'
    assert json_edit.added('{\r\n    "a": [1]\r\n}', (0,), 2) == '{\r\n    "a": [1, 2]\r\n}'
    assert json_edit.added('{\r\n  "a": 1\r\n}', (), {}, "b") == '{\r\n  "a": 1,\r\n  "b": {}\r\n}'


def test_of_a_key_that_is_there_twice_the_last_counts() -> None:
    text = '{"hooks": {"a": 1}, "hooks": {"b": 2}}'
    found = json_edit.read(text).last("hooks")
    assert found is not None
    assert found[0] == 1
    assert found[1].content == {"b": 2}


@pytest.mark.parametrize("text", ["", " ", "{", '{"a": 1,}', "// c\n{}", "{'a': 1}", "NaN", "[Infinity]", "{} {}"])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        json_edit.read(text)


def test_what_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(ValueError, match="too deeply"):
        json_edit.read("[" * 100_000 + "]" * 100_000)
