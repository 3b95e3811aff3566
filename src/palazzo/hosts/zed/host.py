"""What Palazzo knows of Zed, from its documentation and from two public readers of its files.

They are stacklok/toolhive (`pkg/client/config.go`) and docker/mcp-gateway (`pkg/client/config.yml`).
"""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="zed",
    title="Zed",
    directories=(Location("", ".config/zed"),),
    evidence="public readers",
)
