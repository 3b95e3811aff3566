"""What a terminal shows fits its width: lines end between words, ids and times stay whole, no line ends in blanks."""

from __future__ import annotations

from io import StringIO

import pytest

from palazzo.features.notes.contract import Change, UndoResult
from palazzo.features.notes.view import undo
from palazzo.features.screen import Output, Screen

ID, OTHER_ID, TIME = "0123456789abcdef" * 2, "fedcba9876543210" * 2, "2026-11-28T02:51:14.942Z"


def screen(width: int) -> tuple[Screen, StringIO]:
    file = StringIO()
    return Screen(file, Output(True, width, "utf-8", {"TERM": "xterm", "NO_COLOR": "1"})), file


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_long_line_is_broken_between_words_under_its_own_indent(width: int) -> None:
    terminal, file = screen(width)
    words = " ".join(f"word{n}" for n in range(40))
    terminal.say("    ", (words, "dim"), f"  {ID}")
    lines = file.getvalue().splitlines()
    assert " ".join(file.getvalue().split()) == f"{words} {ID}"
    assert all(line.startswith("    word") or ID in line for line in lines)
    assert all(len(line) <= width and line == line.rstrip() for line in lines)


def test_a_path_that_is_longer_than_the_terminal_and_a_command_stay_whole() -> None:
    terminal, file = screen(40)
    path = "/home/you" + "/directory" * 9
    terminal.say(f"The file is {path} here")
    terminal.say("cd /home/you/a/directory && claude --resume 0123", is_whole=True)
    assert file.getvalue().splitlines() == [
        "The file is", path, "here", "cd /home/you/a/directory && claude --resume 0123",
    ]  # fmt: skip


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_table_breaks_no_id_and_no_time_and_has_no_trailing_blanks(width: int) -> None:
    terminal, file = screen(width)
    rows = [(TIME, "user", "remember the port of the gateway", "12", ID), (TIME, "claude-code", "", "", OTHER_ID)]
    terminal.table(("when", "who", "what", "count", "id"), rows, right=(3,))
    lines = file.getvalue().splitlines()
    assert all(len(line) <= width and line == line.rstrip() for line in lines)
    for word in (TIME, ID, OTHER_ID, "claude-code"):
        assert any(word in line for line in lines)


@pytest.mark.parametrize("width", [80, 100])
def test_the_list_of_changes_shows_whole_ids_whose_each_is_and_what_it_concerns(width: int) -> None:
    terminal, file = screen(width)
    change = Change(ID, "claude-code", TIME, "remember", 1, "", False, None, False, OTHER_ID, "The port is 8443. " * 7)
    undo(terminal, UndoResult(None, (change,)))
    lines = file.getvalue().splitlines()
    assert lines[0].split() == [ID, "2026-11-28", "02:51:14Z", "claude-code"]
    assert lines[1:] == ["    remember", lines[2], f"    concerns {OTHER_ID}"]
    assert lines[2].startswith("    The port is 8443.")
    assert lines[2].endswith("…")
    assert all(len(line) <= width for line in lines[1:])
