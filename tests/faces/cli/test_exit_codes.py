"""0 done, 1 failed, 2 wrong usage, 3 a bug, 130 interrupted; one sentence on standard error, and no traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, environment, interrupt_until_ended, spawn

from palazzo.features.search.contract import SearchRequest
from palazzo.features.upkeep.contract import StatusResult
from palazzo.operations import registry
from palazzo.operations.operation import Operation

WRONG_USAGE = [
    ["fly"],
    ["status", "--sideways"],
    ["search"],
    ["search", ""],
    ["search", "   "],
    ["search", "port", "--limit", "0"],
    ["search", "port", "--limit", "10001"],
    ["search", "port", "--limit", "many"],
    ["search", "port", "--budget", "0"],
    ["search", "port", "--since", "someday"],
    ["search", "port", "--since", "2026-02-01", "--until", "2026-01-01"],
    ["search", "port", "--kind", "song"],
    ["search", "port", "--wing", "nowhere"],
    ["search", "port", "--room", "nowhere"],
    ["mine"],
    ["mine", ""],
    ["backup", ""],
    ["mine", "no/such/file"],
    ["mine", "docs", "--mode", "music"],
    ["mine", "docs", "--wing", "///"],
    ["show", "zzzz"],
    ["show", ""],
    ["show", "0123456789abcdef"],
    ["show", "0123", "--context", "-1"],
    ["remember", ""],
    ["remember", "note", "--anchor", "no/such/file.py"],
    ["remember", "note", "--anchor", "palazzo.toml:9-3"],
    ["remember", "note", "--kind", "  "],
    ["forget"],
    ["forget", "0123", "--wing", "shop"],
    ["forget", "0123456789abcdef", "--yes"],
    ["forget", "--wing", "nowhere", "--yes"],
    ["forget", "--source", "no/such/file", "--yes"],
    ["wake-up", "--budget", "0"],
    ["wake-up", "--wing", "nowhere"],
    ["repair", "--rebuild", "everything"],
    ["init", "no/such/directory"],
    ["settings", "get", "no_such_key"],
    ["settings", "set", "save_interval"],
    ["settings", "set", "save_interval", "often"],
    ["view", "--export", "pages"],
    ["pause", "5"],
    ["check-duplicate", ""],
]


@pytest.mark.parametrize("arguments", WRONG_USAGE, ids=" ".join)
def test_wrong_usage_is_told_in_a_sentence_and_exits_with_2(palazzo: Command, shop: Path, arguments: list[str]) -> None:
    before = shop.read_bytes()
    ran = palazzo(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.error.strip()
    assert "Traceback" not in ran.error
    assert shop.read_bytes() == before


def test_a_largest_limit_is_allowed_and_nothing_found_is_no_failure(palazzo: Command, shop: Path) -> None:
    assert len(palazzo.json("search", "port", "--limit", "10000")["hits"]) == 1
    ran = palazzo("search", "xylophone")
    assert (ran.code, "Nothing found" in ran.out) == (0, True)


def test_what_fails_exits_with_1(palazzo: Command) -> None:
    ran = palazzo("search", "anything")
    assert ran.code == 1
    assert "There is no palace at" in ran.error
    assert "palazzo mine DIR" in ran.error
    assert ran.error.count("\n") == 1


@pytest.mark.parametrize("arguments", [["mine", "no/such/file"], ["watch", "no/such/file"], ["undo"]], ids=" ".join)
def test_what_there_is_nothing_for_makes_no_palace(palazzo: Command, home: Path, arguments: list[str]) -> None:
    assert palazzo(*arguments).code != 0
    assert not (home / ".local").exists()


def test_debug_shows_where_an_error_came_from(palazzo: Command) -> None:
    assert "Traceback" in palazzo("--debug", "search", "anything").error
    assert "Traceback" in palazzo("search", "anything", "--debug").error


def test_a_bug_is_reported_to_a_file_that_holds_nothing_from_the_palace(
    palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class BrokenOperation(Operation[SearchRequest, StatusResult]):
        def run(self, context: object, request: SearchRequest) -> StatusResult:
            raise KeyError(request.query)

    found = BrokenOperation("search", SearchRequest, StatusResult, scope="read")
    monkeypatch.setattr(registry, "operation", lambda name: found)
    monkeypatch.setattr(sys, "argv", ["palazzo", "search", "the secret plan", "--wing=hidden"])
    ran = palazzo("search", "the secret plan", "--wing=hidden")
    assert ran.code == 3
    assert "Traceback" not in ran.error
    (report,) = (home / ".local" / "state" / "palazzo").glob("bug-*.txt")
    assert str(report) in ran.error
    text = report.read_text()
    assert "secret" not in text
    assert "hidden" not in text
    assert "command   palazzo search … --wing" in text
    assert "KeyError" in text
    assert "test_exit_codes.py" in text
    assert "Traceback" in palazzo("search", "x", "--debug").error


@pytest.mark.usefixtures("interruptible_children")
def test_interrupting_what_reads_its_text_says_that_nothing_was_done(shop: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "palazzo.faces.cli", "remember", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment({}),
    ) as running:  # fmt: skip
        assert running.stdin is not None
        running.stdin.write(b"words " * 50_000)  # more than a pipe holds: the command has begun to read
        running.stdin.flush()
        interrupt_until_ended(running)
        assert running.stderr is not None
        assert (running.returncode, running.stderr.read()) == (130, b"\npalazzo: Stopped. Nothing was done.\n")


def test_an_error_names_what_is_wrong(palazzo: Command, shop: Path) -> None:
    assert "give a duration (30m, 2h, 3 days)" in palazzo("pause", "5").error
    assert "nothing to compare" in palazzo("check-duplicate", "").error
    assert "Name what to export" in palazzo("view", "--export", "pages").error
    missing = spawn("diary", "write", "what happened today")
    assert (missing.code, missing.error) == (
        2,
        "palazzo: Missing argument 'TEXT', and nothing was read from standard input.\n",
    )


@pytest.mark.usefixtures("interruptible_children")
def test_interrupting_keeps_what_was_read_and_exits_with_130(home: Path) -> None:
    many = home / "many"
    many.mkdir()
    for n in range(400):
        (many / f"{n:04}.md").write_text(f"# Page {n}\n\n" + "words and more words " * 200)
    running = subprocess.Popen(
        [sys.executable, "-m", "palazzo.faces.cli", "mine", str(many)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({}),
    )
    palace = home / ".local" / "share" / "palazzo" / "palace.db"
    deadline = time.monotonic() + 60
    try:
        while not palace.exists() or palace.stat().st_size < 400_000:
            assert time.monotonic() < deadline
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, error = running.communicate(timeout=60)
    finally:
        running.kill()
        running.communicate()
    assert running.returncode == 130
    assert b"Stopped at" in error
    assert b"Traceback" not in error
    kept = spawn("status", "--json").json["items"]
    assert 0 < kept < 400
    assert spawn("verify").code == 0
    assert spawn("mine", str(many), "--json").json["new"] == 400 - kept


def test_a_reader_that_goes_away_is_no_error(shop: Path) -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "palazzo.faces.cli", "settings"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({}),
    )
    assert running.stdout is not None
    running.stdout.close()
    assert running.stderr is not None
    assert running.stderr.read() == b""
    running.stderr.close()
    assert running.wait(60) == 0


def test_a_wrong_choice_is_told_as_a_person_would(palazzo: Command, shop: Path) -> None:
    said = " ".join(palazzo("search", "port", "--kind", "song").error.replace("│", " ").split())
    assert "Invalid value for '--kind': 'song' is not one of 'exchange', 'message'" in said
