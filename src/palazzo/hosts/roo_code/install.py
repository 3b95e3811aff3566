"""install roo-code: the MCP server in Roo Code's settings, and instructions."""

from __future__ import annotations

from palazzo.hosts.roo_code.host import HOST
from palazzo.hosts.roo_code.server import SERVERS
from palazzo.hosts.server_installer import Places, server_installer

_PLACES = Places(
    directory="$APPLICATIONS/Code/User/globalStorage/rooveterinaryinc.roo-cline",
    servers="settings/mcp_settings.json",
    instructions="~/.roo/rules/palazzo.md",
    project_servers=".roo/mcp.json",
    project_instructions=".roo/rules/palazzo.md",
)
INSTALLER = server_installer(HOST, SERVERS, _PLACES)
