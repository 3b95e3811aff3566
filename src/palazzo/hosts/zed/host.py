"""What Palazzo knows of Zed: of its threads, from its source code; of its settings, from its documentation and from two
public readers of its files.

They are stacklok/toolhive (`pkg/client/config.go`) and docker/mcp-gateway (`pkg/client/config.yml`).
"""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

_THREADS = "threads/threads.db"

HOST = Host(
    name="zed",
    title="Zed",
    kinds=("zed",),
    directories=(Location("", ".config/zed"),),
    histories=(
        Location("XDG_DATA_HOME", ".local/share", (f"zed/{_THREADS}",)),
        Location("", ".var/app/dev.zed.Zed/data", (f"zed/{_THREADS}",)),
        Location("", "Library/Application Support", (f"Zed/{_THREADS}",)),
        Location("", "AppData/Local", (f"Zed/{_THREADS}",)),
    ),
    evidence="source code",
)
