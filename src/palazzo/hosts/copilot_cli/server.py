"""Copilot CLI's settings for an MCP server."""

from __future__ import annotations

from palazzo.hosts.json_servers import JsonServers
from palazzo.hosts.server_settings import BY_HAND, ServerSettings, http_form

SERVERS = JsonServers(fields={"type": "local", "tools": ["*"]})
SERVER = ServerSettings(
    file="~/.copilot/mcp-config.json",
    has_shell=True,
    form=SERVERS.form,
    http=http_form("mcpServers", type="http", tools=["*"], authorization="YOUR_TOKEN"),
    login_hint=BY_HAND,
    name="copilot-cli",
)
