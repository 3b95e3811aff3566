"""opencode's settings for an MCP server."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.hosts.server_settings import NAME, VARIABLE, ServerSettings, document, http_form


def _form(program: str, arguments: Sequence[str]) -> str:
    server = {"type": "local", "command": [program, *arguments], "enabled": True}
    return document(["mcp", NAME], server, **{"$schema": "https://opencode.ai/config.json"})


SERVER = ServerSettings(
    file="~/.config/opencode/opencode.json, or opencode.json in a project",
    has_shell=True,
    form=_form,
    http=http_form("mcp", type="remote", enabled=True, oauth=False, authorization=f"{{env:{VARIABLE}}}"),
)
