"""Cursor's settings for an MCP server."""

from __future__ import annotations

from palazzo.hosts.json_servers import JsonServers
from palazzo.hosts.server_settings import VARIABLE, ServerSettings, http_form

SERVERS = JsonServers()
SERVER = ServerSettings(
    file="~/.cursor/mcp.json, or .cursor/mcp.json in a project",
    has_shell=False,
    form=SERVERS.form,
    http=http_form("mcpServers", authorization=f"${{env:{VARIABLE}}}"),
)
