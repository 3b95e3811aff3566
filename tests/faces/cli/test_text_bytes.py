"""Texts from standard input that are not UTF-8: refused where a text is stored, kept where bytes are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, environment, spawn

BAD = "schön ".encode() + b"\xff end"
REFUSAL = "is not valid UTF-8 from byte 8 on: convert it first"


@pytest.mark.parametrize(
    "arguments",
    [
        ("remember", "-"),
        ("diary", "write", "ada", "-"),
        ("checkpoint", "-"),
        ("todo", "add", "-"),
        ("remind", "-", "--at", "tomorrow"),
        ("event", "task", "-", "--to", "codex", "--done", "Tests pass."),
    ],
    ids=" ".join,
)
def test_a_text_to_store_is_refused_in_one_sentence(home: Path, arguments: tuple[str, ...]) -> None:
    ran = spawn(*arguments, stdin=BAD)
    assert (ran.code, ran.out) == (2, "")
    assert REFUSAL in ran.error
    assert ran.error.count("\n") == 1
    assert not (home / ".local").exists()


def test_an_argument_is_refused_likewise(palazzo: Command) -> None:
    refused = palazzo("remember", BAD.decode("utf-8", "surrogateescape"))
    assert (refused.code, REFUSAL in refused.error) == (2, True)


def test_of_a_file_of_facts_the_line_is_refused(palazzo: Command, tmp_path: Path) -> None:
    fact = b'{"subject": "api", "predicate": "uses", "object": "Redis%s"}\n'
    (tmp_path / "facts.jsonl").write_bytes(fact % b"" + fact % b"\xff")
    ran = palazzo("kg", "add-many", str(tmp_path / "facts.jsonl"))
    assert (ran.code, "1 fact: 1 new" in ran.out) == (1, True)
    assert "line 2  This line is not valid UTF-8." in ran.out


def test_valid_text_is_stored_to_the_byte(home: Path) -> None:
    text = "\ufeffschön\r\n\x00 \U0001f600\n".encode()
    noted = spawn("remember", "-", "--json", stdin=text)
    raw = subprocess.run(
        [sys.executable, "-m", "palazzo.faces.cli", "show", noted.json["id"], "--raw"],
        capture_output=True,
        env=environment({}),
        timeout=120,
        check=True,
    )
    assert raw.stdout == text


def test_an_artifact_keeps_its_bytes(home: Path) -> None:
    put = spawn("artifact", "put", "log", "-", "--by", "ada", "--json", stdin=BAD)
    got = subprocess.run(
        [sys.executable, "-m", "palazzo.faces.cli", "artifact", "get", put.json["artifact"]["id"]],
        capture_output=True,
        env=environment({}),
        timeout=120,
        check=True,
    )
    assert BAD in got.stdout


def test_a_text_that_is_only_compared_may_have_any_bytes(home: Path) -> None:
    spawn("remember", "The otter.")
    assert spawn("check-duplicate", "-", stdin=BAD).code == 0
    assert spawn("fix", "-", stdin=BAD).code == 0
