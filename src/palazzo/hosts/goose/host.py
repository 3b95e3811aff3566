"""What Palazzo knows of Goose, from its source code (`agents`, `config` and `session` in `crates/goose/src`)."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="goose",
    title="Goose",
    program="goose",
    kinds=("goose",),
    directories=(Location("", ".config/goose"),),
    histories=(Location("XDG_DATA_HOME", ".local/share", ("goose/sessions/sessions.db",)),),
    evidence="source code",
)
