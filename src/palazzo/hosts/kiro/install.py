"""install kiro: the MCP server in Kiro's settings, a file of hooks of our own, and instructions."""

from __future__ import annotations

from palazzo.hosts.kiro.hook_file import FORMAT
from palazzo.hosts.kiro.host import HOST
from palazzo.hosts.kiro.server import SERVERS
from palazzo.hosts.kiro.wiring import WIRING
from palazzo.hosts.server_installer import Places, server_installer

_PLACES = Places(
    directory="~/.kiro",
    servers="settings/mcp.json",
    instructions="steering/palazzo.md",
    project_servers=".kiro/settings/mcp.json",
    project_instructions=".kiro/steering/palazzo.md",
    hooks="hooks/palazzo.json",
    project_hooks=".kiro/hooks/palazzo.json",
)
INSTALLER = server_installer(HOST, SERVERS, _PLACES, WIRING, FORMAT)
