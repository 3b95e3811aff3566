"""What Palazzo knows of Cursor, from public readers of its database."""

from __future__ import annotations

from palazzo.hosts.application_directories import in_application_directories
from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="cursor",
    title="Cursor",
    program="cursor",
    kinds=("cursor",),
    directories=(Location("", ".cursor"),),
    histories=in_application_directories("Cursor/User/globalStorage/state.vscdb"),
    agent_variables=("CURSOR_AGENT",),
    evidence="public readers",
)
