"""Frequent commands by the thin client: the same output as the full program's, or the full program itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemon.conftest import User, made_user, wait_until

from palazzo.client import thin_command
from palazzo.faces.cli import argument_parser

MAIN = Path(__file__).parents[2] / "src" / "palazzo" / "__main__.py"
THIN, FULL = ("-I", "-S", "-E"), ("-P",)
"""How the installed script starts Python for a frequent command, and for all others."""
QUERY = "which port does the deploy listen on"


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    """Somebody with a few notes, and a service that runs."""
    for user in made_user(tmp_path_factory.mktemp("thin") / "home"):
        with user.caller() as caller:
            for text in ("The deploy listens on port 8443.", "Retries double after a failure.", "The cat sleeps."):
                assert "result" in caller.call("remember", {"text": text, "kind": "decision"})
            wait_until(lambda: caller.call("search", {"query": "port"})["result"]["index"] == "ready", 60)
        yield user


def run(user: User, options: tuple[str, ...], *arguments: str, **variables: str) -> tuple[int, str, str]:
    command = [sys.executable, *options, str(MAIN), *arguments, "--palace", str(user.palace)]
    environment = {**user.variables, **variables}
    done = subprocess.run(command, capture_output=True, env=environment, cwd=user.home, timeout=60, check=False)
    lines = [line for line in done.stdout.decode().splitlines() if not line.endswith(" first in full")]  # has the time
    return done.returncode, "\n".join(lines), done.stderr.decode()


def calls(user: User) -> int:
    return int(user.greet("state")["state"]["calls"])


@pytest.mark.parametrize(
    "arguments", [("search", QUERY), ("search", QUERY, "--limit", "1", "--explain"), ("search", "zebra"), ("wake-up",)]
)
def test_it_prints_what_the_full_program_prints(owner: User, arguments: tuple[str, ...]) -> None:
    before = calls(owner)
    assert run(owner, THIN, *arguments) == run(owner, FULL, *arguments)
    assert calls(owner) == before + 2


def test_json_and_a_hit_in_full_are_the_same(owner: User) -> None:
    documents = [json.loads(run(owner, options, "search", QUERY, "--json")[1]) for options in (THIN, FULL)]
    for document in documents:
        document.pop("took_ms")
    assert documents[0] == documents[1]
    drawer = documents[0]["hits"][0]["id"]
    assert run(owner, THIN, "show", drawer) == run(owner, FULL, "show", drawer)


@pytest.mark.parametrize(
    "variables", [{"LC_ALL": "C"}, {"TZ": "Asia/Tokyo"}, {"CLAUDECODE": "1"}, {"COLUMNS": "40"}, {"NO_COLOR": "1"}]
)
def test_variables_of_the_caller_hold(owner: User, variables: dict[str, str]) -> None:
    assert run(owner, THIN, "search", QUERY, **variables) == run(owner, FULL, "search", QUERY, **variables)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("search",), 2),
        (("search", "port", "--limt", "2"), 2),
        (("search", "port", "--wing", "nowhere"), 2),
        (("show", "abcdef01", "--json"), 2),
        (("search", "--help"), 0),
    ],
)
def test_what_it_cannot_do_the_full_program_does(owner: User, arguments: tuple[str, ...], code: int) -> None:
    answer = run(owner, THIN, *arguments)
    assert answer == run(owner, FULL, *arguments)
    assert answer[0] == code


def test_without_a_service_the_full_program_answers(owner: User) -> None:
    code, out, _ = run(owner, THIN, "search", QUERY, PALAZZO_SERVICE="off")
    assert (code, "8443" in out) == (0, True)
    missing = run(owner, THIN, "search", QUERY, PALAZZO_PALACE=str(owner.home / "none.db"))
    assert missing[0] in (0, 1)


def test_a_problem_in_a_settings_file_is_told(owner: User) -> None:
    settings = Path(owner.variables.get("XDG_CONFIG_HOME") or owner.home / ".config") / "palazzo" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("limt = 3\n")
    try:
        thin, full = (run(owner, options, "search", QUERY) for options in (THIN, FULL))
    finally:
        settings.unlink()
    assert thin == full
    assert "limt" in thin[2]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("rows", [50, 8])
def test_a_terminal_gets_the_same_in_colour_and_a_long_answer_is_paged(owner: User, rows: int) -> None:
    shown = [search_at_terminal(owner, options, rows) for options in (THIN, FULL)]
    assert shown[0] == shown[1]
    assert "8443" in shown[0]
    assert ("PAGED" in shown[0]) == (rows == 8)


def search_at_terminal(user: User, options: tuple[str, ...], rows: int) -> str:
    from tests.faces.cli.terminal import program_at_terminal

    pager = user.home / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\ncat\n")
    pager.chmod(0o755)
    command = [sys.executable, *options, str(MAIN), "search", QUERY, "--explain", "--palace", str(user.palace)]
    size = {"COLUMNS": "80", "LINES": str(rows)}
    variables = {**user.variables, **size, "TERM": "xterm-256color", "PALAZZO_PAGER": str(pager)}
    with program_at_terminal(command, user.home, variables, columns=80, lines=rows) as screen:
        _, shown = screen.wait_for_end()
    return "\n".join(line for line in shown.splitlines() if " ms" not in line)


def test_a_reader_that_has_gone_is_no_error(owner: User) -> None:
    command = f"{sys.executable} -I -S -E {MAIN} search {QUERY} --palace {owner.palace} | true"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, env=owner.variables, cwd=owner.home)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="a wheel for Windows has an entry point in the script's place")
def test_the_script_starts_the_thin_client_for_its_commands() -> None:
    script = (MAIN.parents[2] / "packaging" / "palazzo").read_text()
    (names,) = re.findall(r"^ +([a-z |-]+)\) exec .* -I -S -E", script, re.MULTILINE)
    assert set(names.split(" | ")) == {"hook", "mcp", "statusline", "mine", *thin_command.COMMANDS}
    for name in thin_command.COMMANDS:
        line = argument_parser.parse([name, "a"][: 1 + (name != "wake-up")])
        assert line.command is not None
        assert not line.reads_input
