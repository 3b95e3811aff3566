"""Roo Code's settings for an MCP server."""

from __future__ import annotations

from palazzo.hosts.json_servers import JsonServers
from palazzo.hosts.server_settings import ServerSettings

SERVERS = JsonServers()
SERVER = ServerSettings(
    file="mcp_settings.json (Roo Code: MCP Servers, Edit Global MCP), or .roo/mcp.json in a project",
    has_shell=False,
    form=SERVERS.form,
)
