"""What Palazzo knows of Cursor, from public readers of its database."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="cursor",
    title="Cursor",
    program="cursor",
    kinds=("cursor",),
    directories=(Location("", ".cursor"),),
    agent_variables=("CURSOR_AGENT",),
    evidence="public readers",
)
