"""The pager: used at a terminal for what is longer than the screen, and nowhere else."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, environment

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)


def at_screen(rows: int, variables: Mapping[str, str], *arguments: str) -> tuple[int, str]:
    """Run the command at a terminal of so many rows and 60 columns; return its exit code and what was shown."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 60, 0, 0))
    settings = environment({"TERM": "xterm-256color", **variables})
    for name in ("COLUMNS", "LINES", "CLAUDECODE", "PAGER"):
        if name not in variables:
            settings.pop(name, None)
    command = [sys.executable, "-m", "palazzo.faces.cli", *arguments]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=settings) as process:
        os.close(theirs)
        output = bytearray()
        try:
            while part := os.read(ours, 65_536):
                output += part
        except OSError:  # the other end is closed
            pass
        code = process.wait(60)
    os.close(ours)
    return code, output.decode()


@pytest.fixture
def pager(home: Path) -> str:
    """A pager that says that it was used."""
    program = home / "my pager"
    program.write_text("#!/bin/sh\necho PAGED\ncat\n")
    program.chmod(0o755)
    return f"'{program}'"


def test_only_an_answer_longer_than_the_screen_is_paged(palazzo: Command, shop: Path, pager: str) -> None:
    code, output = at_screen(5, {"PALAZZO_PAGER": pager, "PAGER": "false"}, "search", "deploy port")
    assert (code, output.startswith("PAGED"), "port 8443" in output) == (0, True, True)
    code, output = at_screen(60, {"PALAZZO_PAGER": pager}, "search", "deploy port")
    assert (code, "PAGED" in output, "port 8443" in output) == (0, False, True)


@pytest.mark.parametrize(
    ("variables", "options"),
    [
        ({}, ("--no-pager",)),
        ({"PALAZZO_PAGER": ""}, ()),
        ({"PALAZZO_PAGER": "cat"}, ()),
        ({"TERM": "dumb"}, ()),
        ({"CLAUDECODE": "1"}, ()),
    ],
)
def test_nothing_is_paged_for_who_does_not_want_it(
    palazzo: Command, shop: Path, pager: str, variables: dict[str, str], options: tuple[str, ...]
) -> None:
    code, output = at_screen(5, {"PAGER": pager, **variables}, "search", "deploy port", *options)
    assert (code, "PAGED" in output, "port 8443" in output) == (0, False, True)


def test_a_pager_that_cannot_be_started_or_is_left_early_loses_nothing(palazzo: Command, shop: Path) -> None:
    code, output = at_screen(5, {"PALAZZO_PAGER": "no-such-pager -x"}, "search", "deploy port")
    assert (code, "port 8443" in output) == (0, True)
    assert "The pager 'no-such-pager' cannot be started" in output
    assert at_screen(5, {"PALAZZO_PAGER": "true"}, "search", "deploy port") == (0, "")
