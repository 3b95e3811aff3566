"""VS Code's settings for an MCP server."""

from __future__ import annotations

import json

from palazzo.hosts.json_servers import JsonServers
from palazzo.hosts.server_settings import NAME, ServerSettings


def _http(url: str) -> str:
    question = {"type": "promptString", "id": "palazzo-token", "description": "Palazzo's token", "password": True}
    server = {"type": "http", "url": url, "headers": {"Authorization": "Bearer ${input:palazzo-token}"}}
    return json.dumps({"inputs": [question], "servers": {NAME: server}}, indent=2)


SERVERS = JsonServers("servers", has_comments=True, fields={"type": "stdio"})
SERVER = ServerSettings(
    file="mcp.json of your profile (MCP: Open User Configuration), or .vscode/mcp.json in a project",
    has_shell=False,
    form=SERVERS.form,
    http=_http,
    login_hint="VS Code asks for the token's secret when it starts the server, and stores it.",
)
