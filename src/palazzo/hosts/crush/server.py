"""Crush's settings for an MCP server."""

from __future__ import annotations

from palazzo.hosts.json_servers import JsonServers
from palazzo.hosts.server_settings import ServerSettings

SERVERS = JsonServers("mcp", fields={"type": "stdio"})
SERVER = ServerSettings(
    file="~/.config/crush/crush.json, or crush.json in a project",
    has_shell=True,
    form=SERVERS.form,
)
