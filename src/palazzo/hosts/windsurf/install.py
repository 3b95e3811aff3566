"""install windsurf: the MCP server in Windsurf's settings, hooks that archive turns, and instructions."""

from __future__ import annotations

from palazzo.hosts.server_installer import Places, server_installer
from palazzo.hosts.windsurf.host import HOST
from palazzo.hosts.windsurf.server import SERVERS
from palazzo.hosts.windsurf.wiring import WIRING

_PLACES = Places(
    directory="~/.codeium/windsurf",
    servers="mcp_config.json",
    instructions="memories/global_rules.md",
    hooks="hooks.json",
)
INSTALLER = server_installer(HOST, SERVERS, _PLACES, WIRING)
