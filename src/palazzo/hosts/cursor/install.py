"""install cursor: the MCP server in Cursor's settings, a hook at a session's start, and instructions."""

from __future__ import annotations

from palazzo.hosts.cursor.host import HOST
from palazzo.hosts.cursor.server import SERVERS
from palazzo.hosts.cursor.wiring import WIRING
from palazzo.hosts.server_installer import Places, server_installer

_PLACES = Places(
    directory="~/.cursor",
    servers="mcp.json",
    project_servers=".cursor/mcp.json",
    project_instructions="AGENTS.md",
    hooks="hooks.json",
    project_hooks=".cursor/hooks.json",
)
INSTALLER = server_installer(HOST, SERVERS, _PLACES, WIRING)
