"""The picker of sessions, in a real pseudo-terminal, and starting the host."""

from __future__ import annotations

import os
import shutil
import string
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, environment
from tests.faces.cli.test_sessions import FIXTURES, LONG, write_session

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)
from tests.faces.cli.terminal import Terminal, program_at_terminal

from palazzo.faces.cli.session_picker import Choice, PickerState, Row, draw, split_keys

ROWS = [Row(f"id{n}", f"line {n}", f"{n}", f"line {n} {'cart' if n == 7 else ''}") for n in range(30)]


@contextmanager
def terminal(home: Path, *arguments: str, columns: int = 80, lines: int = 24, **variables: str) -> Iterator[Terminal]:
    """Run the command in a terminal."""
    given = environment({"HOME": str(home), "TERM": "xterm-256color", **variables})
    command = [sys.executable, "-m", "palazzo.faces.cli", *arguments]
    with program_at_terminal(command, home, given, columns, lines) as screen:
        yield screen


@pytest.fixture
def sessions(palazzo: Command, home: Path) -> Path:
    """Two sessions in the palace; returns the home directory."""
    write_session(home, f"{'a' * 30}00", ["Fix the cart."], "2026-03-01")
    shutil.copy(FIXTURES / "claude-code" / f"{LONG}.jsonl", home / ".claude" / "projects" / "-shop")
    palazzo.json("feed", "--min-messages", "1")
    palazzo.json("sessions")
    return home


def test_typing_filters_and_enter_shows_the_session(sessions: Path) -> None:
    with terminal(sessions, "sessions") as screen:
        first = screen.wait_for("Esc")
        assert "2 of 2 sessions" in first
        assert "Do not use MongoDB" in first  # the preview of the first
        screen.press("cart")
        assert "Fix the cart." in screen.wait_for("1 of 2 sessions")
        screen.press("\r")
        shown = screen.wait_for("Done: 0.")
        assert "\x1b[?1049l" in shown
        assert screen.end() == 0


def test_an_interrupt_restores_the_terminal_and_exits_with_130(sessions: Path) -> None:
    with terminal(sessions, "sessions", columns=40, lines=12) as screen:
        earlier = screen.modes()
        drawn = screen.wait_for("Esc")
        assert screen.modes() != earlier
        assert all(len(line.split("\x1b[K")[0]) <= 60 for line in drawn.split("\r\n"))
        screen.press("\x03")
        assert "\x1b[?25h\x1b[?1049l" in screen.wait_for("Stopped")
        assert (screen.end(), screen.modes()) == (130, earlier)


def test_a_terminal_that_cannot_be_drawn_on_and_filters_get_the_list(sessions: Path) -> None:
    for arguments, term in (((), "dumb"), (("--limit", "5"), "xterm")):
        with terminal(sessions, "sessions", *arguments, TERM=term) as screen:
            assert "\x1b[?1049h" not in screen.wait_for("2 sessions")
            assert screen.end() == 0
    with terminal(sessions, "sessions", "--pick", "--limit", "5", TERM="dumb") as screen:
        assert "this is the list" in screen.wait_for("2 sessions")


def test_escape_leaves_and_no_color_has_no_style(sessions: Path) -> None:
    with terminal(sessions, "sessions", "--pick", "--limit", "1", NO_COLOR="1") as screen:
        assert "\x1b[1m" not in screen.wait_for("Esc")
        screen.press("\x1b")
        assert screen.end() == 0


def test_control_r_starts_the_host_in_the_sessions_directory(sessions: Path) -> None:
    programs = sessions / "bin"
    programs.mkdir()
    (programs / "claude").write_text('#!/bin/sh\necho "host: $* in $PWD"\nexit 7\n')
    (programs / "claude").chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    with terminal(sessions, "sessions", PATH=path) as screen:
        screen.wait_for("Esc")
        screen.press("\x1b[B\x12")
        assert f"host: --resume {'a' * 30}00 in {sessions / 'shop'}" in screen.wait_for("host:")
        assert screen.end() == 7
    with terminal(sessions, "resume", LONG, PATH=path) as screen:
        assert "The session's directory /home/dev/acme does not exist here" in screen.wait_for("does not exist")
        assert screen.end() == 1
    with terminal(sessions, "resume", "aaaaaaaa", "--print", PATH=path) as screen:
        assert "host:" not in screen.wait_for("claude --resume")


def test_keys_move_and_edit_the_filter() -> None:
    state = PickerState(ROWS)
    for key in ("down", "down", "up", "page down"):
        assert state.press(key, 10) is None
    assert state.selected == 11
    state.press("end", 10)
    assert state.selected == 29
    for key in "CARTX":
        state.press(key, 10)
    assert (list(state.matches), state.row, state.press("enter", 10)) == ([], None, None)
    state.press("erase", 10)
    state.press("escape", 10)
    assert (state.filter, state.press("resume", 10)) == ("", Choice("resume", "id0"))
    assert state.press("escape", 10) == Choice("leave")


@pytest.mark.parametrize("letter", string.printable[:95])
def test_no_letter_that_begins_a_filter_shows_resumes_or_leaves(letter: str) -> None:
    state = PickerState(ROWS)
    for key in split_keys(f"{letter}equests"):
        assert state.press(key, 10) is None
    assert state.filter == f"{letter}equests"


def test_a_line_that_is_cut_ends_with_an_ellipsis() -> None:
    rows = [Row("id", "word " * 40, "word " * 40, "")]
    lines = draw(PickerState(rows), ["preview " * 20, "short"], 80, 24, has_style=False).split("\r\n")
    assert [line.removesuffix("\x1b[K")[-1:] for line in lines if "word" in line or "preview" in line] == ["…", "…"]
    assert "short\x1b[K" in lines


def test_what_a_terminal_sends_is_split_into_keys() -> None:
    assert list(split_keys("a\x1b[A\x1bOBé\r\x1b[5~\x1b[1;5C\x1b")) == [
        "a", "up", "down", "é", "enter", "page up", "escape",
    ]  # fmt: skip


@pytest.mark.parametrize(("width", "height"), [(20, 6), (40, 12), (80, 24), (120, 50)])
def test_a_screen_fits_the_terminal_whatever_is_shown(width: int, height: int) -> None:
    rows = [Row("id", "長い題名" * 40, "長い" * 40, "")] * 100
    lines = draw(PickerState(rows, selected=50), ["\x1b[2J preview"] * 90, width, height, has_style=False).split("\r\n")
    assert len(lines) == height
    for line in lines:
        text = line.removeprefix("\x1b[H").removesuffix("\x1b[J").removesuffix("\x1b[K")
        assert text.isprintable()
        assert len(text) + sum(letter in "長い題名" for letter in text) < width
    assert any(line.startswith(">") for line in lines)
