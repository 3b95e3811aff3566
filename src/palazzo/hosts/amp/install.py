"""install amp: the MCP server in Amp's settings, and instructions."""

from __future__ import annotations

from palazzo.hosts.amp.host import HOST
from palazzo.hosts.amp.server import SERVERS
from palazzo.hosts.server_installer import Places, server_installer

_PLACES = Places(
    directory="$CONFIGURATION/amp",
    servers="settings.json",
    instructions="AGENTS.md",
    project_servers=".amp/settings.json",
    project_instructions="AGENTS.md",
)
INSTALLER = server_installer(HOST, SERVERS, _PLACES)
