"""install zed: the MCP server in Zed's settings, and instructions."""

from __future__ import annotations

from palazzo.hosts.server_installer import Places, server_installer
from palazzo.hosts.zed.host import HOST
from palazzo.hosts.zed.server import SERVERS

_PLACES = Places(
    directory="$CONFIGURATION/zed",
    servers="settings.json",
    project_servers=".zed/settings.json",
    project_instructions="AGENTS.md",
)
INSTALLER = server_installer(HOST, SERVERS, _PLACES)
