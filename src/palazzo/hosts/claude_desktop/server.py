"""Claude Desktop's settings for an MCP server."""

from __future__ import annotations

from palazzo.hosts.json_servers import JsonServers
from palazzo.hosts.server_settings import ServerSettings

SERVERS = JsonServers()
SERVER = ServerSettings(
    file="claude_desktop_config.json (Settings, Developer, Edit Config)",
    has_shell=False,
    form=SERVERS.form,
)
