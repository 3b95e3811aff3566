"""The settings that make a host start `palazzo mcp` or call it over HTTP, in each host's own format.

The formats are those that the hosts' own commands write (`claude mcp add`, `codex mcp add`, …), or those of the hosts'
documentation where there is no such command. Nothing is written here: `palazzo mcp --print-config HOST` prints the
settings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from palazzo.features.hosts.hook_wiring import PASSED_ON

NAME = "palazzo"
"""The server's name in a host. Tools are shown to the model with it (`mcp__palazzo__search`)."""
VARIABLE = "PALAZZO_TOKEN"
"""The environment variable from which a host reads the token for a server over HTTP."""
_BY_HAND = "Replace YOUR_TOKEN with the token's secret, and make the file unreadable to others."


@dataclass(frozen=True)
class Host:
    """A program that starts MCP servers.

    `has_shell` says that it is started from a shell, and so finds programs by name; other hosts, started from a
    desktop, do not have the user's PATH.
    """

    title: str
    file: str
    has_shell: bool
    form: Callable[[str, Sequence[str]], str]
    command: str = ""
    """The host's own command for this, if it has one; `{}` is replaced by the server's command line."""
    http: Callable[[str], str] | None = None
    """The configuration for a server at an address, if the host documents one. It never contains the token."""
    login_hint: str = f"Set {VARIABLE} to the token's secret in the environment of the host."
    """How the host gets the token."""


def _json(*path: str, **more: object) -> Callable[[str, Sequence[str]], str]:
    """Return a JSON document with the server under `path`, and `more` beside its command."""

    def form(program: str, arguments: Sequence[str]) -> str:
        return _document([*path, NAME], {**more, "command": program, "args": list(arguments)})

    return form


def _http(*path: str, authorization: str, address: str = "url", **more: object) -> Callable[[str], str]:
    """Return a JSON document with the server's URL under `path`; `authorization` is the placeholder for the token."""

    def form(url: str) -> str:
        server = {**more, address: url, "headers": {"Authorization": f"Bearer {authorization}"}}
        return _document([*path, NAME], server)

    return form


def _document(path: Sequence[str], server: dict[str, Any], **beside: str) -> str:
    for name in reversed(path):
        server = {name: server}
    return json.dumps({**beside, **server}, indent=2, ensure_ascii=False)


def _opencode(program: str, arguments: Sequence[str]) -> str:
    server = {"type": "local", "command": [program, *arguments], "enabled": True}
    return _document(["mcp", NAME], server, **{"$schema": "https://opencode.ai/config.json"})


def _codex(program: str, arguments: Sequence[str]) -> str:
    # JSON's strings are TOML's basic strings, but that TOML wants U+007F escaped
    literals = [json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f") for word in (program, *arguments)]
    passed = ", ".join(f'"{name}"' for name in PASSED_ON)
    return f"[mcp_servers.{NAME}]\ncommand = {literals[0]}\nargs = [{', '.join(literals[1:])}]\nenv_vars = [{passed}]"


def _codex_http(url: str) -> str:
    return f'[mcp_servers.{NAME}]\nurl = {json.dumps(url)}\nbearer_token_env_var = "{VARIABLE}"'


def _vscode_http(url: str) -> str:
    question = {"type": "promptString", "id": "palazzo-token", "description": "Palazzo's token", "password": True}
    server = {"type": "http", "url": url, "headers": {"Authorization": "Bearer ${input:palazzo-token}"}}
    return json.dumps({"inputs": [question], "servers": {NAME: server}}, indent=2)


HOSTS = {
    "claude-code": Host(
        "Claude Code",
        "~/.claude.json, or .mcp.json in a project",
        True,
        _json("mcpServers", type="stdio"),
        "claude mcp add palazzo --scope user -- {}",
        _http("mcpServers", type="http", authorization=f"${{{VARIABLE}}}"),
    ),
    "codex": Host("Codex", "~/.codex/config.toml", True, _codex, "codex mcp add palazzo -- {}", _codex_http),
    "opencode": Host(
        "opencode",
        "~/.config/opencode/opencode.json, or opencode.json in a project",
        True,
        _opencode,
        http=_http("mcp", type="remote", enabled=True, oauth=False, authorization=f"{{env:{VARIABLE}}}"),
    ),
    "pi": Host("pi", "~/.pi/agent/mcp.json", True, _json("mcpServers", exposure="direct"), "pi mcp add palazzo -- {}"),
    "claude-desktop": Host(
        "Claude Desktop",
        "claude_desktop_config.json (Settings, Developer, Edit Config)",
        False,
        _json("mcpServers"),
    ),
    "cursor": Host(
        "Cursor",
        "~/.cursor/mcp.json, or .cursor/mcp.json in a project",
        False,
        _json("mcpServers"),
        http=_http("mcpServers", authorization=f"${{env:{VARIABLE}}}"),
    ),
    "vscode": Host(
        "VS Code",
        "mcp.json of your profile (MCP: Open User Configuration), or .vscode/mcp.json in a project",
        False,
        _json("servers", type="stdio"),
        http=_vscode_http,
        login_hint="VS Code asks for the token's secret when it starts the server, and stores it.",
    ),
    "gemini-cli": Host(
        "Gemini CLI",
        "~/.gemini/settings.json",
        True,
        _json("mcpServers"),
        http=_http("mcpServers", address="httpUrl", authorization=f"${VARIABLE}"),
    ),
    "copilot-cli": Host(
        "Copilot CLI",
        "~/.copilot/mcp-config.json",
        True,
        _json("mcpServers", type="local", tools=["*"]),
        http=_http("mcpServers", type="http", tools=["*"], authorization="YOUR_TOKEN"),
        login_hint=_BY_HAND,
    ),
    "zed": Host(
        "Zed",
        "settings.json (zed: open settings)",
        False,
        _json("context_servers", source="custom"),
        http=_http("context_servers", authorization="YOUR_TOKEN"),
        login_hint=_BY_HAND,
    ),
}
