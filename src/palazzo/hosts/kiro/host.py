"""What Palazzo knows of Kiro: of its database, from its source code; of its sessions and settings, from public readers.

The readers of its settings are stacklok/toolhive (`pkg/client/config.go`) and docker/mcp-gateway
(`pkg/client/config.yml`); those of its sessions are named in `kiro_rows`. Of its hooks, see `hooks`.
"""

from __future__ import annotations

from palazzo.hosts.application_directories import in_application_directories
from palazzo.hosts.host_descriptor import Host, Location

_DATABASES = ("kiro-cli/data.sqlite3", "amazon-q/data.sqlite3")

HOST = Host(
    name="kiro",
    title="Kiro",
    program="kiro-cli",
    kinds=("kiro",),
    directories=(Location("", ".kiro"),),
    histories=(
        Location("KIRO_HOME", ".kiro", ("sessions",)),
        Location("XDG_DATA_HOME", ".local/share", _DATABASES),
        Location("", "Library/Application Support", _DATABASES),
        Location("", "AppData/Local", _DATABASES),
        *in_application_directories("Kiro/User/globalStorage/kiro.kiroagent/workspace-sessions"),
    ),
    evidence="public readers",
)
