"""`palazzo mcp --print-config HOST`: what it prints is what each host reads."""

from __future__ import annotations

import json
import shlex
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.faces.cli.command import Command

from palazzo.hosts.host_registry import server_settings

Command_ = list[str]
HOSTS = server_settings()


def of_servers(name: str) -> Callable[[str], Command_]:
    """The command line in a document that has servers, each with its `command` and `args`, under `name`."""

    def read(text: str) -> Command_:
        server = json.loads(text)[name]["palazzo"]
        assert isinstance(server["command"], str)
        return [server["command"], *server["args"]]

    return read


def of_opencode(text: str) -> Command_:
    server = json.loads(text)["mcp"]["palazzo"]
    assert (server["type"], server["enabled"]) == ("local", True)
    return list(server["command"])


def of_codex(text: str) -> Command_:
    server = tomllib.loads(text)["mcp_servers"]["palazzo"]
    return [server["command"], *server["args"]]


def of_goose(text: str) -> Command_:
    server = yaml.safe_load(text)["extensions"]["palazzo"]
    assert (server["type"], server["enabled"]) == ("stdio", True)
    return [server["cmd"], *server["args"]]


READ_BY: dict[str, Callable[[str], Command_]] = {
    "claude-code": of_servers("mcpServers"),
    "codex": of_codex,
    "opencode": of_opencode,
    "kilo-code": of_opencode,
    "goose": of_goose,
    "pi": of_servers("mcpServers"),
    "claude-desktop": of_servers("mcpServers"),
    "cursor": of_servers("mcpServers"),
    "vscode": of_servers("servers"),
    "gemini-cli": of_servers("mcpServers"),
    "copilot-cli": of_servers("mcpServers"),
    "zed": of_servers("context_servers"),
    "amp": of_servers("amp.mcpServers"),
    "crush": of_servers("mcp"),
    **dict.fromkeys(
        ("cline", "continue", "droid", "kiro", "qwen-code", "roo-code", "windsurf"),
        of_servers("mcpServers"),
    ),
}


@pytest.fixture
def installed(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program `palazzo` on the path."""
    program = home / "some bin" / "palazzo"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    return program


def test_every_host_has_a_reader_here() -> None:
    assert set(READ_BY) == set(HOSTS)


@pytest.mark.parametrize("name", HOSTS)
def test_a_host_reads_the_command_line_out_of_it(palazzo: Command, installed: Path, name: str) -> None:
    told = palazzo("mcp", "--print-config", name)
    assert told.code == 0, told.error
    assert HOSTS[name][1].file in told.error
    program = "palazzo" if HOSTS[name][1].has_shell else str(installed)
    assert READ_BY[name](told.out) == [program, "mcp"]


@pytest.mark.parametrize("name", HOSTS)
def test_what_was_asked_for_and_names_that_need_care_arrive_as_they_are(
    palazzo: Command, installed: Path, home: Path, name: str
) -> None:
    palace = home / 'quoted "ü" \\ $HOME \x7f' / "palace.db"
    given = ["--profile", "mempalace", "--toolset", "full"]
    told = palazzo("--palace", str(palace), "mcp", *given, "--print-config", name)
    assert told.code == 0, told.error
    assert READ_BY[name](told.out)[1:] == ["mcp", "--palace", str(palace), *given]


def test_a_palace_that_only_a_variable_names_is_named_since_some_hosts_pass_on_few_variables(
    palazzo: Command, installed: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALAZZO_PALACE", "other.db")
    expected = str(home / "shop" / "other.db")
    assert of_codex(palazzo("mcp", "--print-config", "codex").out) == ["palazzo", "mcp", "--palace", expected]


def test_the_host_s_own_command_is_told_where_there_is_one(palazzo: Command, installed: Path) -> None:
    said = palazzo("mcp", "--toolset", "full", "--print-config", "claude-code").error
    command = next(line for line in said.splitlines() if line.startswith("Or: "))
    assert shlex.split(command.removeprefix("Or: "))[-4:] == ["palazzo", "mcp", "--toolset", "full"]


def test_without_a_program_on_the_path_the_one_beside_this_python_is_meant_or_python_itself(
    palazzo: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    beside = tmp_path / "env" / "bin" / "python"
    monkeypatch.setattr(sys, "executable", str(beside))
    read: Any = READ_BY["claude-code"]
    assert read(palazzo("mcp", "--print-config", "claude-code").out) == [str(beside), "-P", "-m", "palazzo", "mcp"]
    beside.parent.mkdir(parents=True)
    beside.with_name("palazzo").touch()
    assert read(palazzo("mcp", "--print-config", "claude-code").out) == [str(beside.with_name("palazzo")), "mcp"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--print-config", "emacs"], "Unknown host 'emacs'"),
        (["--profile", "none", "--print-config", "zed"], "Unknown profile 'none'"),
        (["--toolset", "most"], "Unknown toolset 'most'"),
    ],
)
def test_what_there_is_not_is_said_with_what_there_is(palazzo: Command, given: list[str], said: str) -> None:
    told = palazzo("mcp", *given)
    assert told.code == 2
    assert told.error.startswith(f"palazzo: {said}")
    assert told.out == ""


TOKEN_PLACES = {
    "claude-code": "Bearer ${PALAZZO_TOKEN}",
    "codex": "PALAZZO_TOKEN",
    "opencode": "Bearer {env:PALAZZO_TOKEN}",
    "cursor": "Bearer ${env:PALAZZO_TOKEN}",
    "vscode": "Bearer ${input:palazzo-token}",
    "gemini-cli": "Bearer $PALAZZO_TOKEN",
    "copilot-cli": "Bearer YOUR_TOKEN",
    "zed": "Bearer YOUR_TOKEN",
}


@pytest.mark.parametrize("name", HOSTS)
def test_a_client_over_http_reads_the_address_and_where_its_token_is_and_never_the_token(
    palazzo: Command, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    secret = palazzo.json("token", "add", "laptop", "--scope", "write")["secret"]
    monkeypatch.setenv("PALAZZO_TOKEN", secret)
    ran = palazzo("mcp", "--http", "memory.lan:9000", "--print-config", name)
    assert secret not in ran.out + ran.error
    if name not in TOKEN_PLACES:
        assert (ran.code, ran.out) == (2, "")
        assert HOSTS[name][0].title in ran.error
        return
    assert ran.code == 0, ran.error
    assert "palazzo token add" in ran.error
    if name == "codex":
        server = tomllib.loads(ran.out)["mcp_servers"]["palazzo"]
        assert server == {"url": "http://memory.lan:9000/mcp", "bearer_token_env_var": "PALAZZO_TOKEN"}
        return
    document = json.loads(ran.out)
    (servers,) = (document[key] for key in ("mcpServers", "mcp", "servers", "context_servers") if key in document)
    server = servers["palazzo"]
    assert server.get("url", server.get("httpUrl")) == "http://memory.lan:9000/mcp"
    assert server["headers"] == {"Authorization": TOKEN_PLACES[name]}
    assert "command" not in server
