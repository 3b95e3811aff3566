"""Blocks and tables at the end of a text come and go without a trace."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palazzo.text import appended_block, toml_edit

BLOCK = ["# ours", "[mcp_servers.palazzo]", 'command = "/a b/ü"', 'args = ["mcp"]']
LINES = st.text(st.sampled_from("a\n\r #"), max_size=8)


@settings(max_examples=25, deadline=None)
@given(before=LINES, after=LINES)
def test_a_block_is_taken_away_without_a_trace_also_where_more_came_behind_it(before: str, after: str) -> None:
    text = appended_block.append_block(before, BLOCK)
    start, end = text.index(BLOCK[0]), text.index(BLOCK[-1]) + len(BLOCK[-1])
    assert appended_block.remove_block(text, start, end) == before
    if text.endswith(("\n", "\r")) and after:
        assert appended_block.remove_block(text + "x" + after, start, end) == before + "x" + after


def test_a_text_that_was_made_for_the_block_is_gone_with_it() -> None:
    text = appended_block.new(BLOCK)
    assert appended_block.remove_block(text, 0, len(text) - 1) is None
    assert appended_block.remove_block(text + "\n# more\n", 0, len(text) - 1) == "\n# more\n"


TOML = '''\
model = "x" # [not.a.table]
text = """
[nor.this]
"""
list = [
  [1, 2],
  ["[nor.that]"],
]

[mcp_servers."a.b"]
command = "a"

# about the next
[[many]]
[ many . below ]
[hooks.state."~/.codex/hooks.json:stop:0:0"] # trusted
trusted_hash = "sha256:1"
# the end
'''


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_tables_are_found_where_they_are(newline: str) -> None:
    text = TOML.replace("\n", newline)
    found = list(toml_edit.tables(text))
    names = [("mcp_servers", "a.b"), ("many",), ("many", "below"), ("hooks", "state", "~/.codex/hooks.json:stop:0:0")]
    assert [table.name for table in found] == names
    assert text[found[0].start : found[0].end] == f'[mcp_servers."a.b"]{newline}command = "a"'
    assert text[found[-1].end :] == f"{newline}# the end{newline}"


def test_a_table_is_written_as_it_is_read() -> None:
    values = {"command": '/a "b"\\ü\x7f\t', "args": ["mcp", "--palace", "x"], "seconds": 3}
    text = "\n".join(toml_edit.lines(("mcp_servers", "palazzo"), values))
    assert tomllib.loads(text) == {"mcp_servers": {"palazzo": values}}


@pytest.mark.parametrize(
    "args", ['["mcp"]', '[\n  "mcp", # [x]\n]', "['mcp'] # a comment", '["mcp"]\nstartup_timeout_sec = 9']
)
def test_a_value_is_changed_and_what_stands_around_it_stays(args: str) -> None:
    text = f'[a]\nx = 1\n[b]\ncommand = "old"\nargs = {args}\n\n[c]\nargs = []\n'
    wanted = tomllib.loads(text)
    wanted["b"]["args"] = ["mcp", "--palace", "é"]
    after = toml_edit.with_value(text, ("b", "args"), ["mcp", "--palace", "é"])
    assert tomllib.loads(after) == wanted
    assert after.startswith('[a]\nx = 1\n[b]\ncommand = "old"\nargs = ["mcp", "--palace", "é"]')
    assert after.endswith("\n\n[c]\nargs = []\n")
    assert after.count("#") == args.partition("]")[2].count("#")  # a comment within the old value goes with it


def test_a_key_is_added_before_the_comment_on_the_next_table() -> None:
    text = "a = 1\r\n\r\n# about b\r\n[b]\r\nx = nan\r\n\r\n# about c\r\n[c]"
    more = toml_edit.with_value(toml_edit.with_value(text, ("b", "y"), [2]), ("z",), True)
    assert more == text.replace("a = 1", "a = 1\r\nz = true").replace("nan", "nan\r\ny = [2]")
    assert toml_edit.without_key(more, "z") == text.replace("nan", "nan\r\ny = [2]")


@pytest.mark.parametrize("text", ["b = 1\n", "[[b]]\nargs = []\n", "b = "])
def test_a_value_that_has_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"cannot be written|Invalid"):
        toml_edit.with_value(text, ("b", "args"), [])
