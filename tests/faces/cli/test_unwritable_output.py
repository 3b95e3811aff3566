"""Standard output that is full or closed: one sentence, exit code 1, no bug report, and the work is done."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faces.cli.command import SOURCES, Command, environment

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
MAIN = str(Path(SOURCES) / "palazzo" / "__main__.py")
STATES = {"full": ("> /dev/full", "No space left on device"), "closed": (">&-", "it is closed")}
COMMANDS = ["status", "--version", "help", "search --help", "search port", "completion bash", "settings get palace"]


def run(arguments: str, redirection: str, options: str = "-P", **variables: str) -> subprocess.CompletedProcess[str]:
    command = f'"{sys.executable}" {options} "{MAIN}" {arguments} {redirection}'
    values = {**environment(variables), "PYTHONUNBUFFERED": variables.get("PYTHONUNBUFFERED", "")}
    return subprocess.run(
        ["sh", "-c", command], stderr=subprocess.PIPE, text=True, env=values, timeout=120, check=False
    )


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("arguments", COMMANDS)
def test_an_output_that_cannot_be_written_is_one_sentence(shop: Path, home: Path, arguments: str, state: str) -> None:
    redirection, reason = STATES[state]
    ran = run(arguments, redirection)
    assert (ran.returncode, ran.stderr) == (1, f"palazzo: The output could not be written ({reason}).\n")
    assert not list(home.rglob("bug-*.txt"))


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("state", STATES)
def test_a_note_is_stored_although_the_output_cannot_be_written(
    palazzo: Command, shop: Path, state: str, unbuffered: str
) -> None:
    redirection, reason = STATES[state]
    ran = run("remember 'The heron stands in the pond.'", redirection, PYTHONUNBUFFERED=unbuffered)
    assert ran.returncode == 1
    assert ran.stderr == f"palazzo: The output could not be written ({reason}). The command itself is done.\n"
    assert palazzo.json("search", "heron pond")["hits"][0]["text"] == "The heron stands in the pond."


@pytest.mark.parametrize("state", STATES)
def test_an_error_of_a_command_is_not_followed_by_one_of_its_output(shop: Path, state: str) -> None:
    ran = run("show zzzz", STATES[state][0])
    assert ran.returncode == 2
    assert ran.stderr.startswith("palazzo: 'zzzz' is not an id")
    assert ran.stderr.count("\n") == 1


def test_a_large_output_and_a_document_are_told_in_the_same_way(shop: Path) -> None:
    assert json.loads(run("search port --json", "> /dev/full").stderr)["error"]["kind"] == "output_unwritable"
    assert run("export -", "> /dev/full").stderr.startswith("palazzo: Standard output cannot be written")


@pytest.mark.parametrize("state", STATES)
def test_an_answer_that_is_printed_at_once_has_the_same_sentence(shop: Path, state: str, home: Path) -> None:
    redirection, reason = STATES[state]
    assert run(f"mine '{home / 'shop' / 'docs'}'", "> /dev/null").returncode == 0  # and the next one compares only
    ran = run(f"mine '{home / 'shop' / 'docs'}'", redirection, "-I -S -E")
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"palazzo: The output could not be written ({reason}).")
    assert ran.stderr.count("\n") == 1


def test_nothing_is_written_into_a_file_that_takes_the_place_of_a_closed_stream(palazzo: Command, shop: Path) -> None:
    for redirection in (">&-", "2>&-", "<&-", "<&- >&- 2>&-", "2> /dev/full"):
        assert run("remember 'Another heron.'", redirection).returncode in (0, 1)
        assert run("status", redirection).returncode in (0, 1)
    assert palazzo("verify").code == 0
