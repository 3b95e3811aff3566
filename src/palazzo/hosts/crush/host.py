"""What Palazzo knows of Crush, from its source code (`internal/config`, `internal/projects`, `internal/cmd`)."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location, ResumeCommand

HOST = Host(
    name="crush",
    title="Crush",
    program="crush",
    kinds=("crush",),
    directories=(Location("", ".config/crush"),),
    history_indexes=(
        Location("CRUSH_GLOBAL_DATA", "", ("projects.json",)),
        Location("XDG_DATA_HOME", ".local/share", ("crush/projects.json",)),
        Location("", "AppData/Local", ("crush/projects.json",)),
    ),
    resume=ResumeCommand(("crush", "--session", "ID"), needs_directory=True, is_restorable=False),
    evidence="source code",
)
