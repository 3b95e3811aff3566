"""What a command line asks of the relay, where it says the client is, and what stands in for a service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.client.conftest import INITIALIZE, MAIN, Host, relay_command

from palazzo import paths
from palazzo.client import launcher, rpc, service_address
from palazzo.client.jsonl import LONGEST_LINE
from palazzo.client.mcp_relay import split_lines


@pytest.mark.parametrize(
    ("typed", "palace", "profile", "toolset"),
    [
        ("mcp", None, "palazzo", "core"),
        ("mcp --palace p.db", "p.db", "palazzo", "core"),
        ("--palace=p.db mcp --toolset full --profile=shodh", "p.db", "shodh", "full"),
        ("--palace mcp mcp", "mcp", "palazzo", "core"),
    ],
)
def test_a_command_line_for_the_relay_says_which_palace_profile_and_toolset(
    typed: str, palace: str | None, profile: str, toolset: str
) -> None:
    asked = launcher.parse_options(typed.split())
    assert asked is not None
    assert (asked.palace, asked.profile, asked.toolset) == (palace, profile, toolset)


@pytest.mark.parametrize(
    "typed",
    [
        "", "search mcp", "mcp mcp", "mcp --http", "mcp --help", "mcp --palace", "mcp --palace --toolset",
        "mcp --palace=", "mcp --toolset most", "mcp --profile=none", "--palace mcp", "hook claude-code Stop",
        "--debug mcp", "mcp extra",
    ],
)  # fmt: skip
def test_every_other_command_line_is_left_to_the_whole_program(typed: str) -> None:
    assert launcher.parse_options(typed.split()) is None


def test_what_is_no_relay_is_done_by_the_whole_program(variables: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-E", str(MAIN), "mcp", "--toolset", "most"],
        env=variables, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "most" in done.stderr
    assert done.stdout == ""


def test_the_directory_is_named_as_the_client_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, other, linked = tmp_path / "real", tmp_path / "other", tmp_path / "linked"
    real.mkdir()
    other.mkdir()
    linked.symlink_to(real)
    monkeypatch.chdir(real)
    assert launcher.directory({}) == str(real)
    assert launcher.directory({"PWD": str(linked)}) == str(linked)
    assert launcher.directory({"PWD": str(other)}) == str(real)
    assert launcher.directory({"PWD": "."}) == str(real)
    assert launcher.directory({"PWD": str(tmp_path / "none")}) == str(real)
    assert launcher.directory({"PWD": str(other), "OPENCODE": "1"}) == str(other)


def test_a_directory_that_was_removed_is_named_as_it_was_or_as_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert launcher.directory({"PWD": str(gone)}) == str(tmp_path)
    assert launcher.directory({"PWD": str(tmp_path)}) == str(tmp_path)


def test_a_service_of_an_earlier_version_is_looked_for_where_it_listened(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = tmp_path_factory.mktemp("r")  # a socket's path is short
    monkeypatch.setattr(paths, "_RUNTIME_PLACES", str(places))
    runtime = places / str(os.getuid())
    runtime.mkdir()
    variables = {"XDG_RUNTIME_DIR": "/run/mine", "TMPDIR": "/var/tmp"}
    directories = [address.directory for address in service_address.former_addresses("/p.db", variables)]
    assert directories == ["/run/mine/palazzo", f"{runtime}/palazzo", f"/var/tmp/palazzo-{os.getuid()}"]
    assert rpc.address("/p.db", variables).directory not in directories
    assert [address.directory for address in service_address.former_addresses("/p.db", {"TMPDIR": "/tmp"})] == [
        f"{runtime}/palazzo"
    ]


def test_lines_are_told_apart_however_they_come() -> None:
    text = b"one\ntwo\r\n\nthree" + b"x" * 70_000 + b"\nlast"
    for size in (1, 2, 3, 1000, len(text)):
        pieces = iter([text[at : at + size] for at in range(0, len(text), size)] + [b""])
        assert list(split_lines(lambda: next(pieces))) == text.split(b"\n")  # noqa: B023 - used up in this round


@pytest.mark.parametrize("ending", [b"", b"\n", b"\nnext"])
def test_a_line_that_is_too_long_is_none(ending: bytes) -> None:
    piece = b"x" * (1 << 20)
    pieces = iter([piece] * (3 * LONGEST_LINE // len(piece)) + [ending, b""][not ending :])
    assert list(split_lines(lambda: next(pieces))) == [None, *([b"next"] if b"next" in ending else [])]


def test_without_a_service_the_process_becomes_the_server(variables: dict[str, str]) -> None:
    host = Host(relay_command(Path(variables["HOME"]) / "palace.db"), {**variables, "PALAZZO_SERVICE": "off"})
    try:
        assert host.ask("initialize", INITIALIZE, 0)["result"]["serverInfo"]["name"] == "palazzo"
        assert b"palazzo.faces.mcp.stdio_server" in command_of(host)
        assert host.close() == 0
        assert not Path(variables["HOME"], "palazzo").exists()
    finally:
        host.end()


WITHOUT_A_PLACE = """
import sys
sys.path.append(sys.argv[1])
from palazzo.client import launcher, service_address
service_address._PLACE = "/dev/null"
sys.exit(launcher.main(sys.argv[2:], sys.argv[1]))
"""
"""A relay whose service has no place to listen at."""


def test_where_a_service_cannot_be_had_a_process_of_its_own_stands_in_and_another_for_that(
    variables: dict[str, str],
) -> None:
    palace = str(Path(variables["HOME"]) / "palace.db")
    command = [sys.executable, "-I", "-S", "-E", "-c", WITHOUT_A_PLACE, str(MAIN.parents[1]), "mcp", "--palace", palace]
    host = Host(command, variables)
    try:
        host.begin()
        tools = host.ask("tools/list", name=1)["result"]["tools"]
        (own,) = children_of(host)
        os.kill(own, 9)
        assert host.ask("tools/list", name=2)["result"]["tools"] == tools
        (another,) = children_of(host)
        assert another != own
        assert host.close() == 0
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in host.raw)
        assert "The relay continues with a process of its own." in host.complaints()
    finally:
        host.end()


def command_of(host: Host) -> bytes:
    return subprocess.run(["ps", "-o", "args=", "-p", str(host.process.pid)], capture_output=True, check=True).stdout


def children_of(host: Host) -> list[int]:
    shown = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    rows = [row.split() for row in shown]
    return [int(pid) for pid, parent, state in rows if int(parent) == host.process.pid and "Z" not in state]
