"""JSON with comments is changed in one place at a time, keeps its comments, and is given back to the byte."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palazzo.text import json_edit

OURS = {"palazzo": {"type": "local", "command": ["palazzo", "mcp"]}}
GAP = st.lists(
    st.sampled_from([" ", "\n", "\r\n", "\t", "// a, b }\n", "/* { , */", "/* one\n two */"]), max_size=3
).map("".join)


@st.composite
def written(draw: st.DrawFn, depth: int = 2) -> str:
    """An object with comments wherever they may be, and sometimes a comma behind the last part."""
    inside = []
    for name in draw(st.lists(st.sampled_from(["a", "b", "c//d"]), max_size=3)):
        value = draw(st.sampled_from(["1", '"// no"', "[ ]", "[1, 2,]"]))
        if depth and draw(st.integers(0, 1)):
            value = draw(written(depth - 1))
        inside.append(f'{draw(GAP)}"{name}"{draw(GAP)}:{draw(GAP)}{value}{draw(GAP)}')
    trailing = "," if inside and draw(st.integers(0, 1)) == 1 else ""
    return f"{{{','.join(inside)}{trailing}{draw(GAP)}}}"


def added(text: str) -> str:
    return json_edit.added(text, (), OURS, "mcp")


def taken_away(text: str) -> str | None:
    """Without our server, which is looked for as whoever installs it does."""
    found = json_edit.read(text, has_comments=True).last("mcp")
    assert found is not None
    return json_edit.remove_part(text, (found[0], 0))


@settings(max_examples=20, deadline=None)
@given(before=GAP, text=written(), after=GAP)
def test_what_is_added_is_read_and_removed_without_a_trace(before: str, text: str, after: str) -> None:
    text = before + text + after
    changed = added(text)
    said: Any = json_edit.read(changed, has_comments=True).content
    assert said["mcp"] == OURS
    assert {name: one for name, one in said.items() if name != "mcp"} == json_edit.read(text, has_comments=True).content
    assert taken_away(changed) == text


@pytest.mark.slow
@settings(max_examples=1_500, deadline=None)
@given(before=GAP, text=written(), after=GAP)
def test_what_is_added_is_removed_without_a_trace_in_many_examples(before: str, text: str, after: str) -> None:
    assert taken_away(added(before + text + after)) == before + text + after


def test_a_comment_stays_on_the_line_of_its_value() -> None:
    assert added('{\n  "a": 1 // one\n}\n').startswith('{\n  "a": 1, // one\n  "mcp": {\n')
    assert added('{\n  "a": 1, // one\n}\n').startswith('{\n  "a": 1, // one\n  "mcp": {\n')


def test_comments_around_what_is_removed_stay() -> None:
    text = '{\n  "a": 1, // one\n  // ours, for now\n  "mcp": {"palazzo": 1 /* x */}, // here\n  "z": 2\n}\n'
    gone = taken_away(text)
    assert gone is not None
    assert json_edit.read(gone, has_comments=True).content == {"a": 1, "mcp": {}, "z": 2}
    assert all(comment in gone for comment in ("// one", "// ours, for now", "/* x */", "// here"))


def test_a_file_that_has_a_comment_is_not_taken_away() -> None:
    assert json_edit.remove_part('// mine\n{"mcp": {"palazzo": 1}}\n', (0, 0)) == "// mine\n{}\n"
    assert json_edit.remove_part('{"mcp": {"palazzo": 1}}\n', (0, 0)) is None


def test_a_value_is_replaced_and_nothing_else() -> None:
    text = '{\n  // keep\n  "a": [1, /* old */ 2], // this too\n}\n'
    assert json_edit.replace_value(text, (0,), [3]) == '{\n  // keep\n  "a": [3], // this too\n}\n'


@pytest.mark.parametrize("text", ["{", '{"a" 1}', '{"a": 1} x', "/* {} ", '{"a": /1}', '{"a": tru}', ""])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        json_edit.read(text, has_comments=True)


def test_json_without_comments_is_changed_as_ever() -> None:
    text = '{"a": [1, 2], "b": {"c": "//"}}'
    assert json_edit.plain(text) == text
    assert added(text) == json_edit.added(text, (), OURS, "mcp")
