"""What Palazzo knows of Claude Desktop, from its documentation."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="claude-desktop",
    title="Claude Desktop",
    client="claude-ai",
    directories=(Location("", "Library/Application Support/Claude"), Location("", ".config/Claude")),
)
