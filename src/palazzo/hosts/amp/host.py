"""What Palazzo knows of Amp, from two public readers of its files.

They are stacklok/toolhive (`pkg/client/config.go`) and a public table of agents that cites Amp's manual: settings
with comments in `~/.config/amp` and `.amp`, `AGENTS.md`, and `amp.mcpServers`, one key with a dot in it.
"""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="amp",
    title="Amp",
    program="amp",
    directories=(Location("", ".config/amp"),),
    evidence="public readers",
)
