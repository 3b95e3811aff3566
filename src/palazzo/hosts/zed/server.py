"""Zed's settings for an MCP server."""

from __future__ import annotations

from palazzo.hosts.json_servers import JsonServers
from palazzo.hosts.server_settings import BY_HAND, ServerSettings, http_form

SERVERS = JsonServers("context_servers", has_comments=True, fields={"source": "custom"})
SERVER = ServerSettings(
    file="settings.json (zed: open settings)",
    has_shell=False,
    form=SERVERS.form,
    http=http_form("context_servers", authorization="YOUR_TOKEN"),
    login_hint=BY_HAND,
)
