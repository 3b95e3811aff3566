"""Droid's settings for an MCP server."""

from __future__ import annotations

from palazzo.hosts.json_servers import JsonServers
from palazzo.hosts.server_settings import ServerSettings

SERVERS = JsonServers(fields={"type": "stdio"})
SERVER = ServerSettings(
    file="~/.factory/mcp.json, or .factory/mcp.json in a project",
    has_shell=True,
    form=SERVERS.form,
)
