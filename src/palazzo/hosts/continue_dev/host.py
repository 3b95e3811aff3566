"""What Palazzo knows of Continue, as version 1.5.47 of its program `cn` was run, and from its source code."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="continue",
    title="Continue",
    kinds=("continue",),
    directories=(Location("CONTINUE_GLOBAL_DIR", ".continue"),),
    histories=(Location("CONTINUE_GLOBAL_DIR", ".continue", ("sessions",)),),
    evidence="program",
    versions=("1.5.47",),
)
