"""What Palazzo knows of Crush, from its own repository (README and configuration)."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="crush",
    title="Crush",
    program="crush",
    directories=(Location("", ".config/crush"),),
    evidence="source code",
)
