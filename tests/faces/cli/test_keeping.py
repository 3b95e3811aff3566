"""show --raw, restore-session and watch, as they are typed."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, environment
from tests.sources.host_samples import FIXTURES, sessions_of

from palazzo.features.mining.contract import WatchEvent
from palazzo.features.mining.view import watch_event
from palazzo.features.screen import Screen
from palazzo.model import Micros

CODEX = sessions_of("codex")[0]


@pytest.fixture
def session(palazzo: Command, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PALAZZO_REDACT", "false")
    palazzo.json("mine", str(CODEX))
    return CODEX.stem[-36:]


def test_show_raw_writes_the_transcript_and_nothing_else(session: str, home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "palazzo.faces.cli", "show", session[:8], "--raw"],
        capture_output=True,
        env=environment({}),
        check=True,
        timeout=120,
    )
    assert done.stdout == CODEX.read_bytes()


def test_restore_session_says_what_it_wrote(palazzo: Command, session: str, home: Path) -> None:
    target = home / ".codex" / "sessions" / "2026" / "11" / "21" / CODEX.name
    size = f"({len(CODEX.read_bytes()):,} bytes)"
    ran = palazzo("restore-session", session, str(home / ".codex" / "sessions"), "--dry-run")
    assert (ran.code, ran.out) == (0, f"would write  {target} {size}\n")
    assert not target.exists()
    ran = palazzo("restore-session", session, "~/.codex/sessions")
    assert (ran.code, ran.out) == (0, f"wrote  {target} {size}\n")
    written = palazzo.json("restore-session", session, "~/.codex/sessions")
    assert set(written) == {"session", "kind", "files", "note"}
    assert [set(file) for file in written["files"]] == [{"path", "size", "modified_at", "standing"}]
    assert written["files"][0]["standing"] == "there"
    target.write_text("something else")
    ran = palazzo("restore-session", session, "~/.codex/sessions")
    assert ran.code == 1
    assert "already exists with other content" in ran.error


def test_an_id_that_no_session_has_is_wrong_usage(palazzo: Command, session: str) -> None:
    ran = palazzo("restore-session", "ffff", "anywhere")
    assert ran.code == 2
    assert "No session has the id 'ffff'" in ran.error


def test_two_files_of_one_session_are_candidates(palazzo: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALAZZO_REDACT", "false")
    palazzo.json("mine", str(FIXTURES / "gemini" / "0.61.0"))
    ran = palazzo("show", "12a4bcd7", "--raw")
    assert ran.code == 2
    assert all(
        f"gemini:12a4bcd7-3af8-43af-b5ba-90e701560d2e#{path.name}" in ran.error for path in sessions_of("gemini")
    )


def test_watch_refuses_what_does_not_exist_and_what_is_switched_off(
    palazzo: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = palazzo("watch", "nowhere")
    assert (ran.code, ran.out) == (2, "")
    assert "nowhere does not exist" in ran.error
    monkeypatch.setenv("PALAZZO_OFF", "1")
    ran = palazzo("watch")
    assert ran.code == 1
    assert "PALAZZO_OFF is set" in ran.error


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        (WatchEvent("watching", Micros(0)), "watching  nothing yet"),
        (WatchEvent("caught-up", Micros(0), items=1, drawers=2, took_s=0.5), "caught up  1 item, 2 drawers in 0.5 s"),
        (WatchEvent("read", Micros(0), ("file:///a%20b.jsonl",), 1, 1), "read  1 item, 1 drawer  /a b.jsonl"),
        (
            WatchEvent("found", Micros(0), tuple(f"file:///{n}" for n in range(9))),
            "found  /0, /1, /2, /3, /4, /5 and 3",
        ),
        (WatchEvent("failed", Micros(0), ("file:///a",), detail="Why."), "failed  /a: Why."),
        (WatchEvent("looking", Micros(0), detail="A sentence."), "note  A sentence."),
    ],
)
def test_what_happens_is_one_line_each(event: WatchEvent, wanted: str) -> None:
    written = io.StringIO()
    watch_event(Screen(written), event)
    line = written.getvalue()
    assert line.count("\n") == 1
    assert wanted in line


def test_events_are_one_line_of_json_each(home: Path, session: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "palazzo.faces.cli", "watch", "--json"],
        env={**os.environ, **environment({})},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        event = json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.communicate(timeout=120)
    assert set(event) == {"event", "at", "uris", "items", "drawers", "took_s", "detail"}
