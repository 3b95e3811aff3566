"""What Palazzo knows of Kiro, from two public readers of its files; of its hooks, see `hooks`.

The readers are stacklok/toolhive (`pkg/client/config.go`) and docker/mcp-gateway (`pkg/client/config.yml`).
"""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="kiro",
    title="Kiro",
    program="kiro-cli",
    directories=(Location("", ".kiro"),),
    evidence="public readers",
)
