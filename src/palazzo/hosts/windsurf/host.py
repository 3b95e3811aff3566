"""What Palazzo knows of Windsurf, from two public readers of its files; of its hooks, from its documentation.

The readers are stacklok/toolhive (`pkg/client/config.go`) and oh-my-pi (`windsurf.ts`).
"""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="windsurf",
    title="Windsurf",
    program="windsurf",
    directories=(Location("", ".codeium/windsurf"),),
    evidence="public readers",
)
