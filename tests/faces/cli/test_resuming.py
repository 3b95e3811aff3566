"""Resuming a session in its host: a stand-in for the host's program is started at a real terminal."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
import zstandard
from tests.faces.cli.command import Command, environment

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)
from tests.faces.cli.terminal import program_at_terminal

FIXTURES = Path(__file__).parents[2] / "fixtures"
STAND_IN = '#!/bin/sh\nprintf "started %s:" "${0##*/}"; printf " [%s]" "$@"; echo " in $PWD"\n'
ENDING = "test -t 0 && test -t 1 && exit 7\n"


class HostSample(NamedTuple):
    """A session that a host wrote: its id, the arguments that resume it, the fixture, and where the host keeps it."""

    session: str
    command: Sequence[str]
    fixture: str
    place: str


CLAUDE, CODEX = "e8cc7d58-2992-4d51-82f0-f85e91170df2", "01a1ffee-52ac-72b3-935c-f18368c51b2f"
PI, GEMINI = "01a1ffed-a35d-767c-ab05-5d320791099a", "12a4bcd7-3af8-43af-b5ba-90e701560d2e"
COPILOT, OPENCODE = "82d0ee14-4119-4576-b6f0-a99a5a7d0eb6", "ses_dfff87babffeulzHIusrsyDAIs"
SAMPLES = {
    "claude": HostSample(CLAUDE, ["--resume"], f"claude-code/{CLAUDE}.jsonl", ".claude/projects/-shop"),
    "codex": HostSample(
        CODEX,
        ["resume"],
        f"codex/0.169.0-18-turns/rollout-2026-11-21T21-06-11-{CODEX}.jsonl",
        ".codex/sessions/2026/11/21",
    ),
    "pi": HostSample(
        PI, ["--session"], f"pi/0.87.1/2026-11-21T21-05-26-366Z_{PI}.jsonl", ".pi/agent/sessions/--shop--"
    ),
    "gemini": HostSample(
        GEMINI, ["--resume"], "gemini/0.61.0/chats/session-2026-11-21T21-03-12a4bcd7.jsonl", ".gemini/tmp/shop/chats"
    ),
    "copilot": HostSample(
        COPILOT, ["--resume"], f"copilot/{COPILOT}/events.jsonl", f".copilot/session-state/{COPILOT}"
    ),
}


def stand_in(home: Path, program: str, ending: str = ENDING) -> None:
    """Put a program on the path that prints its arguments and its directory; its exit code is 7 at a terminal."""
    file = home / "bin" / program
    file.parent.mkdir(exist_ok=True)
    file.write_text(STAND_IN + ending)
    file.chmod(0o755)


def run_at_terminal(home: Path, *arguments: str, keys: str = "") -> tuple[int, str]:
    """Run the command at a terminal from the home directory; return its exit code and what was shown."""
    path = f"{home / 'bin'}{os.pathsep}{os.defpath}"
    variables = environment({"HOME": str(home), "TERM": "xterm-256color", "PATH": path})
    command = [sys.executable, "-m", "palazzo.faces.cli", *arguments]
    with program_at_terminal(command, home, variables, columns=250) as screen:
        if keys:
            screen.wait_for("Esc")
            screen.press(keys)
        return screen.wait_for_end()


@pytest.mark.parametrize("program", SAMPLES)
def test_a_host_is_started_with_its_session_and_a_lost_transcript_is_restored(
    palazzo: Command, home: Path, program: str
) -> None:
    sample, shop = SAMPLES[program], home / "shop"
    fixture = FIXTURES / sample.fixture
    transcript = home / sample.place / fixture.name
    transcript.parent.mkdir(parents=True)
    transcript.write_text(fixture.read_text().replace("/home/dev/acme", str(shop)))
    lines = transcript.read_bytes().count(b"\n")  # the restored words are the same but for secrets
    palazzo.json("feed", "--min-messages", "1")
    stand_in(home, program)
    arguments = "".join(f" [{word}]" for word in (*sample.command, sample.session))
    started = f"started {program}:{arguments} in {shop}"
    for name, present in ((sample.session, True), (sample.session, False), (sample.session[:13], False)):
        if not present:
            transcript.unlink()
        code, shown = run_at_terminal(home, "resume", name)
        assert (code, started in shown) == (7, True), shown
        assert ("# restored" in shown) is not present
        assert transcript.read_bytes().count(b"\n") == lines
    transcript.unlink()
    code, shown = run_at_terminal(home, "sessions", keys="\x12")
    assert (code, started in shown, transcript.read_bytes().count(b"\n")) == (7, True, lines)


def test_a_session_that_opencode_lost_is_imported_before_it_is_resumed(palazzo: Command, home: Path) -> None:
    database = home / ".local" / "share" / "opencode" / "opencode.db"
    database.parent.mkdir(parents=True)
    packed = (FIXTURES / "opencode" / "1.18.33-18-turns.db.zst").read_bytes()
    database.write_bytes(zstandard.ZstdDecompressor().stream_reader(packed).read())
    palazzo.json("feed", "--min-messages", "1")
    stand_in(home, "opencode")
    code, shown = run_at_terminal(home, "resume", OPENCODE)
    assert (code, "[import]" in shown, f"started opencode: [--session] [{OPENCODE}]" in shown) == (7, False, True)
    with sqlite3.connect(database) as connection:
        connection.execute("DELETE FROM session")
    file = home / ".local" / "state" / "palazzo" / "restored" / f"{OPENCODE}.json"
    code, shown = run_at_terminal(home, "resume", OPENCODE)
    words = " ".join(shown.split())  # a terminal breaks the line between words
    assert (code, f"opencode could not import {file}" in words, file.exists()) == (1, True, True)
    stand_in(home, "opencode", "test $1 = import || exit 7\n")
    code, shown = run_at_terminal(home, "resume", OPENCODE)
    first, second = (line for line in shown.splitlines() if line.startswith("started"))
    assert (first.split(" in ")[0], second.split(" in ")[0]) == (
        f"started opencode: [import] [{file}]",
        f"started opencode: [--session] [{OPENCODE}]",
    )
    assert (code, file.exists()) == (7, False)


def test_a_host_that_is_not_on_the_path_is_one_sentence(palazzo: Command, home: Path) -> None:
    transcript = home / ".copilot" / "session-state" / COPILOT / "events.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_bytes((FIXTURES / SAMPLES["copilot"].fixture).read_bytes())
    palazzo.json("feed", "--min-messages", "1")
    code, shown = run_at_terminal(home, "resume", COPILOT)
    assert (code, "copilot is not on PATH; install copilot" in shown) == (1, True)
