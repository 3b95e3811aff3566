"""Amp's settings for an MCP server."""

from __future__ import annotations

from palazzo.hosts.json_servers import JsonServers
from palazzo.hosts.server_settings import ServerSettings

SERVERS = JsonServers("amp.mcpServers", has_comments=True)
SERVER = ServerSettings(
    file="~/.config/amp/settings.json, or .amp/settings.json in a project",
    has_shell=True,
    form=SERVERS.form,
)
