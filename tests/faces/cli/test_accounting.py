"""Every row of every captured session is an item, noise, a repetition, or named with the reason it was not read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.faces.cli.command import Command
from tests.sources.opencode_samples import unpack

FIXTURES = Path(__file__).parents[2] / "fixtures"
TRANSCRIPTS = sorted(
    path
    for host in ("claude-code", "codex", "pi", "gemini", "copilot")
    for path in (FIXTURES / host).rglob("*.jsonl")
    if "not-sessions" not in path.parts and path.name not in ("hooks.jsonl", "stream-json.jsonl")
)


SAYS_NOTHING = ("session-2026-11-21T21-04-12a4bcd7", "ab94bc4f-4ea9-4c0b-9496-5a348b6e09c0")
"""Sessions that hold the host's own instructions and no word of a person."""


@pytest.mark.parametrize(
    "path", TRANSCRIPTS, ids=lambda path: f"{path.relative_to(FIXTURES).parts[0]}-{path.stem[:30]}"
)
def test_the_rows_of_a_transcript_add_up(palazzo: Command, path: Path) -> None:
    report = palazzo.json("mine", str(path))
    lines = len(path.read_bytes().splitlines())
    assert (report["new"], report["failed"], report["skipped"], report["unreadable"]) == (1, [], [], 0)
    assert report["rows"] == report["items"] + report["noise"] + report["repeated"]
    if path.parts[len(FIXTURES.parts)] != "gemini":  # of which some lines hold many messages, each a row
        assert report["rows"] == lines
    assert report["items"] > 0
    assert (report["drawers"] > 0) == (path.stem not in SAYS_NOTHING)


@pytest.mark.parametrize("name", ["1.18.33.db", "1.18.33-18-turns.db", "migrated.db"])
def test_the_rows_of_a_database_add_up(palazzo: Command, home: Path, name: str) -> None:
    report = palazzo.json("mine", str(unpack(name, home)))
    assert (report["failed"], report["skipped"], report["unreadable"]) == ([], [], 0)
    assert report["rows"] == report["items"] + report["noise"] > 0


def test_rows_that_are_not_understood_are_counted_and_named(palazzo: Command, home: Path) -> None:
    [source] = [path for path in TRANSCRIPTS if path.stem.startswith("e8cc7d58")]
    path = home / source.name
    path.write_bytes(source.read_bytes() + b"not json\n" + json.dumps([1]).encode() + b"\n")
    report = palazzo.json("mine", str(path))
    assert report["unreadable"] == len(report["skipped"]) == 2
    assert report["rows"] == report["items"] + report["noise"] + report["repeated"] + 2


def test_what_a_run_says_it_brought_is_what_is_there_then(palazzo: Command) -> None:
    sessions = Path(__file__).parents[2] / "fixtures" / "claude-code"  # one of them lies in two files
    assert palazzo.json("mine", str(sessions))["drawers"] == palazzo.json("status")["drawers"] > 0
