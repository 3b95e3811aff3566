"""What Palazzo knows of VS Code, from its documentation and from two public readers of its files.

They are stacklok/toolhive (`pkg/client/config.go`) and docker/mcp-gateway (`pkg/client/config.yml`).
"""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="vscode",
    title="VS Code",
    directories=(Location("", ".config/Code/User"), Location("", "Library/Application Support/Code/User")),
    evidence="public readers",
)
