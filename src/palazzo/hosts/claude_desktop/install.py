"""install claude-desktop: the MCP server in Claude Desktop's settings."""

from __future__ import annotations

from palazzo.hosts.claude_desktop.host import HOST
from palazzo.hosts.claude_desktop.server import SERVERS
from palazzo.hosts.server_installer import Places, server_installer

_PLACES = Places(
    directory="$APPLICATIONS/Claude",
    servers="claude_desktop_config.json",
)
INSTALLER = server_installer(HOST, SERVERS, _PLACES)
