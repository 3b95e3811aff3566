"""install crush: the MCP server in Crush's settings, and instructions."""

from __future__ import annotations

from palazzo.hosts.crush.host import HOST
from palazzo.hosts.crush.server import SERVERS
from palazzo.hosts.server_installer import Places, server_installer

_PLACES = Places(
    directory="$CONFIGURATION/crush",
    servers="crush.json",
    project_servers="crush.json",
    project_instructions="AGENTS.md",
)
INSTALLER = server_installer(HOST, SERVERS, _PLACES)
