"""install vscode: the MCP server in VS Code's settings, and instructions."""

from __future__ import annotations

from palazzo.hosts.server_installer import Places, server_installer
from palazzo.hosts.vscode.host import HOST
from palazzo.hosts.vscode.server import SERVERS

_PLACES = Places(
    directory="$APPLICATIONS/Code/User",
    servers="mcp.json",
    project_servers=".vscode/mcp.json",
    project_instructions=".github/copilot-instructions.md",
)
INSTALLER = server_installer(HOST, SERVERS, _PLACES)
