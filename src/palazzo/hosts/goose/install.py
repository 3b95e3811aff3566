"""install goose: the MCP server as an extension in Goose's config.yaml, and hints."""

from __future__ import annotations

from palazzo.hosts.goose.host import HOST
from palazzo.hosts.goose.server import SERVERS
from palazzo.hosts.server_installer import Places, server_installer

_PLACES = Places(directory="$CONFIGURATION/goose", servers="config.yaml", instructions=".goosehints")
INSTALLER = server_installer(HOST, SERVERS, _PLACES)
