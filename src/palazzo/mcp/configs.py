"""What to put into a host's settings so that it starts `palazzo mcp`, in each host's own form.

The forms are those that the hosts' own commands write (`claude mcp add`, `codex mcp add`, …) where they have one, else
those of their documentation. Nothing is written here: `palazzo mcp --print-config HOST` prints it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from palazzo.operations.wiring import PASSED_ON

NAME = "palazzo"
"""What the server is called in a host. Tools are shown to the model under it (`mcp__palazzo__search`)."""


@dataclass(frozen=True)
class Host:
    """A program that starts MCP servers.

    `has_shell` says that it is started from a shell, and so finds programs by their names; others, which a desktop
    starts, do not know a person's PATH.
    """

    title: str
    file: str
    has_shell: bool
    form: Callable[[str, Sequence[str]], str]
    command: str = ""
    """The host's own command for the same, if it has one; `{}` stands for the server's command line."""


def _json(*path: str, **more: object) -> Callable[[str, Sequence[str]], str]:
    """A JSON document that has the server under `path`, with `more` beside its command."""

    def form(program: str, arguments: Sequence[str]) -> str:
        return _document([*path, NAME], {**more, "command": program, "args": list(arguments)})

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
    quoted = [json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f") for word in (program, *arguments)]
    passed = ", ".join(f'"{name}"' for name in PASSED_ON)
    return f"[mcp_servers.{NAME}]\ncommand = {quoted[0]}\nargs = [{', '.join(quoted[1:])}]\nenv_vars = [{passed}]"


HOSTS = {
    "claude-code": Host(
        "Claude Code",
        "~/.claude.json, or .mcp.json in a project",
        True,
        _json("mcpServers", type="stdio"),
        "claude mcp add palazzo --scope user -- {}",
    ),
    "codex": Host("Codex", "~/.codex/config.toml", True, _codex, "codex mcp add palazzo -- {}"),
    "opencode": Host("opencode", "~/.config/opencode/opencode.json, or opencode.json in a project", True, _opencode),
    "pi": Host("pi", "~/.pi/agent/mcp.json", True, _json("mcpServers", exposure="direct"), "pi mcp add palazzo -- {}"),
    "claude-desktop": Host(
        "Claude Desktop",
        "claude_desktop_config.json (Settings, Developer, Edit Config)",
        False,
        _json("mcpServers"),
    ),
    "cursor": Host("Cursor", "~/.cursor/mcp.json, or .cursor/mcp.json in a project", False, _json("mcpServers")),
    "vscode": Host(
        "VS Code",
        "mcp.json of your profile (MCP: Open User Configuration), or .vscode/mcp.json in a project",
        False,
        _json("servers", type="stdio"),
    ),
    "gemini-cli": Host("Gemini CLI", "~/.gemini/settings.json", True, _json("mcpServers")),
    "copilot-cli": Host(
        "Copilot CLI", "~/.copilot/mcp-config.json", True, _json("mcpServers", type="local", tools=["*"])
    ),
    "zed": Host("Zed", "settings.json (zed: open settings)", False, _json("context_servers", source="custom")),
}
