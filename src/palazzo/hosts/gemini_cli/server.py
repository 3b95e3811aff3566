"""Gemini CLI's settings for an MCP server."""

from __future__ import annotations

from palazzo.hosts.json_servers import JsonServers
from palazzo.hosts.server_settings import VARIABLE, ServerSettings, http_form

SERVERS = JsonServers(has_comments=True)
SERVER = ServerSettings(
    file="~/.gemini/settings.json",
    has_shell=True,
    form=SERVERS.form,
    http=http_form("mcpServers", address="httpUrl", authorization=f"${VARIABLE}"),
)
