"""install continue: the MCP server in Continue's settings, and instructions.

The extensions of editors read the servers in `mcpServers/` and those of `config.yaml`. The program `cn` (npm:
`@continuedev/cli`, 1.5.47) reads only the latter, where they are a list; it reads `rules/` and writes sessions as the
extensions do. It has Claude Code's hooks in its code, and calls none of them.
"""

from __future__ import annotations

from palazzo.hosts.continue_dev.host import HOST
from palazzo.hosts.continue_dev.server import SERVERS
from palazzo.hosts.server_installer import Places, server_installer

_PLACES = Places(
    directory="~/.continue",
    servers="mcpServers/palazzo.json",
    instructions="rules/palazzo.md",
    variable="CONTINUE_GLOBAL_DIR",
    note=(
        "Continue's program 'cn' starts only servers that config.yaml lists. For tools there, add to it: "
        "mcpServers: [{name: palazzo, command: palazzo, args: [mcp]}]"
    ),
)
INSTALLER = server_installer(HOST, SERVERS, _PLACES)
