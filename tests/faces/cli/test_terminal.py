"""What a terminal is sent: recorded words, names and refusals neither drive it nor turn what is read."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from tests.faces.cli.command import Command

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)
from tests.faces.cli.terminal import at_terminal

CONTROL_TEXT = "\x1b]0;owned\x07 \x9d52;c;b3duZWQ=\x9c \x1b[2J \u202eexe.txt\u2066 \u200f \x7f \x85 \u2028"
DANGEROUS = {*map(chr, (*range(9), *range(11, 13), *range(14, 32), *range(0x7F, 0xA0), *range(0x202A, 0x202F)))}
DANGEROUS |= {*map(chr, range(0x2066, 0x206A))}


@pytest.fixture
def drawer_id(palazzo: Command, shop: Path, home: Path) -> str:
    """A note whose words act on terminals, and a file and settings whose names do; returns the note's id."""
    (home / "shop" / f"evil{CONTROL_TEXT.replace('/', '')[:30]}.md").write_text("# Evil\n\nA file of an acting name.\n")
    (home / "palazzo.toml").write_text(f'"{json.dumps(CONTROL_TEXT)[1:-1]}" = 1\nnonsense = 2\n')
    note: str = palazzo.json("remember", f"The heron {CONTROL_TEXT} flies.")["id"]
    return note


def test_no_command_lets_recorded_words_act_on_a_terminal(drawer_id: str, home: Path) -> None:
    for arguments in (
        ("show", drawer_id, "--json"), ("show", drawer_id), ("search", "heron", "--json"), ("search", "heron"),
        ("list-drawers", "--json"), ("mine", str(home / "shop"), "--verbose"), ("mine", str(home / "shop"), "--json"),
        ("settings",), ("settings", "--json"), ("wake-up",), ("remember", "x", "--wing", CONTROL_TEXT),
        ("show", f"{CONTROL_TEXT}"), ("undo", "--list"),
    ):  # fmt: skip
        _, output = at_terminal(home, *arguments)
        assert not DANGEROUS & {*output}, (arguments, DANGEROUS & {*output})
    code, output = at_terminal(home, "show", drawer_id, "--json")
    whole = json.dumps(json.loads(output[output.index("{\r\n") :]), ensure_ascii=False)
    assert (code, json.dumps(CONTROL_TEXT, ensure_ascii=False)[1:-1] in whole) == (0, True)  # it says the same
    _, output = at_terminal(home, "search", "heron", module="palazzo.faces.cli.mempalace_layout")
    assert not DANGEROUS & {*output}


def test_bytes_as_they_are_are_not_sent_to_a_terminal(drawer_id: str, home: Path, palazzo: Command) -> None:
    for arguments in (("show", drawer_id, "--raw"), ("export", "-")):
        code, output = at_terminal(home, *arguments)
        assert (code, "can contain terminal control sequences" in output) == (2, True), arguments
        assert palazzo(*arguments).code == 0


def test_a_hostile_settings_file_costs_one_line_at_each_command(palazzo: Command, shop: Path, home: Path) -> None:
    hostile = home / "shop" / "palazzo.toml"
    hostile.write_text("".join(f"nonsense{n} = {n}\n" for n in range(300)) + f'"{"x" * 5_000}" = 1\n')
    os.chdir(home / "shop")
    ran = palazzo("remember", "The heron flies.")
    (line,) = ran.error.splitlines()
    assert (len(line) < 500, "300 more in that file" in line) == (True, True)
    assert len(palazzo.json("settings")["problems"]) == 301
