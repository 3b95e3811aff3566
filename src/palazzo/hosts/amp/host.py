"""What Palazzo knows of Amp, from two public readers of its files.

They are stacklok/toolhive (`pkg/client/config.go`) and a public table of agents that cites Amp's manual: settings
with comments in `~/.config/amp` and `.amp`, `AGENTS.md`, and `amp.mcpServers`, one key with a dot in it. The module
`transcript` names those of its threads; several public programs continue one with `amp threads continue`.
"""

from __future__ import annotations

from palazzo.hosts.editor_storage import extension_storage
from palazzo.hosts.host_descriptor import Host, Location, ResumeCommand

HOST = Host(
    name="amp",
    title="Amp",
    program="amp",
    kinds=("amp",),
    directories=(Location("", ".config/amp"),),
    histories=(
        Location("XDG_DATA_HOME", ".local/share", ("amp/threads",)),
        *extension_storage("sourcegraph.amp", "threads3"),
    ),
    session_files=r"T-[^/]+\.json",
    resume=ResumeCommand(("amp", "threads", "continue", "ID"), ("ID.json",), is_restorable=False),
    evidence="public readers",
)
