"""pi's settings for an MCP server."""

from __future__ import annotations

from palazzo.hosts.server_settings import ServerSettings, json_form

SERVER = ServerSettings(
    file="~/.pi/agent/mcp.json",
    has_shell=True,
    form=json_form("mcpServers", exposure="direct"),
    command="pi mcp add palazzo -- {}",
)
