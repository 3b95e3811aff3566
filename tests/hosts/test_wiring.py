"""What is wired into hosts fits what their adapters, the engine and the hosts themselves know."""

from __future__ import annotations

import json

import pytest

from palazzo.hosts import hook_wiring
from palazzo.hosts.claude_code.wiring import WIRING as CLAUDE_CODE
from palazzo.hosts.codex.wiring import WIRING as CODEX
from palazzo.hosts.hook_wiring import HostHooks
from palazzo.hosts.host_registry import adapters, server_settings

WIRINGS = {wired.host: wired for wired in (CLAUDE_CODE, CODEX)}


@pytest.mark.parametrize("wired", WIRINGS.values(), ids=WIRINGS)
def test_what_is_wired_is_what_the_host_and_the_command_line_call_it(wired: HostHooks) -> None:
    known = adapters()[wired.host].events
    for hook in wired.hooks:
        assert known[hook.name] == known[hook.event] == hook.event


def test_claude_code_starts_the_program_without_a_shell() -> None:
    entry = hook_wiring.entries(CLAUDE_CODE, "/opt/my tools/palazzo")["Stop"]
    assert entry == {
        "hooks": [
            {
                "type": "command",
                "command": "/opt/my tools/palazzo",
                "args": ["hook", "claude-code", "stop"],
                "timeout": 10,
            }
        ]
    }


def test_codex_gets_a_line_for_a_shell() -> None:
    def line(**given: object) -> str:
        return str(hook_wiring.entries(CODEX, "/opt/my tools/palazzo", **given)["Stop"]["hooks"][0]["command"])  # type: ignore[arg-type]

    assert line() == "'/opt/my tools/palazzo' hook codex stop"
    assert line(platform="nt") == '"/opt/my tools/palazzo" hook codex stop'
    assert line(more=["--palace", "/a b"]) == "'/opt/my tools/palazzo' hook codex stop --palace '/a b'"


def test_session_end_says_its_time_out_and_every_other_too() -> None:
    """Claude Code ends it after 1.5 seconds where none is said; Codex complains about more than three."""
    for wired in WIRINGS.values():
        for entry in hook_wiring.entries(wired, optional=["pre-tool"]).values():
            assert all(hook["timeout"] >= 3 for hook in entry["hooks"])
    assert hook_wiring.entries(CODEX)["SessionEnd"]["hooks"][0]["timeout"] == 3


def test_an_optional_event_is_wired_where_it_is_wanted() -> None:
    assert "PreToolUse" not in hook_wiring.entries(CLAUDE_CODE)
    assert "PreToolUse" in hook_wiring.entries(CLAUDE_CODE, optional=["pre-tool"])


@pytest.mark.parametrize("host", WIRINGS)
def test_the_server_is_what_print_config_prints(host: str) -> None:
    printed, ours = (
        server_settings()[host][1].form("/x/palazzo", ["mcp"]),
        hook_wiring.server(WIRINGS[host], "/x/palazzo"),
    )
    if host == "claude-code":
        assert json.loads(printed) == {"mcpServers": {hook_wiring.SERVER: ours}}
    else:
        assert all(f"{name} = {json.dumps(value)}" in printed for name, value in ours.items())
