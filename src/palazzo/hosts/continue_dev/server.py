"""Continue's settings for an MCP server."""

from __future__ import annotations

from palazzo.hosts.json_servers import JsonServers
from palazzo.hosts.server_settings import ServerSettings

SERVERS = JsonServers()
SERVER = ServerSettings(
    file="~/.continue/mcpServers/palazzo.json",
    has_shell=False,
    form=SERVERS.form,
)
