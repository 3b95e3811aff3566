"""What Palazzo knows of VS Code: of its chat sessions, from its source code; of its settings, from its documentation
and from two public readers of its files.

They are stacklok/toolhive (`pkg/client/config.go`) and docker/mcp-gateway (`pkg/client/config.yml`).

A window that is connected to another machine keeps its sessions on the machine that shows it. So does a browser, in its
own storage, which is not read.
"""

from __future__ import annotations

from palazzo.hosts.application_directories import in_application_directories
from palazzo.hosts.host_descriptor import Host, Location

_EDITIONS = ("Code", "Code - Insiders", "VSCodium")
_SESSIONS = ("workspaceStorage/*/chatSessions", "globalStorage/emptyWindowChatSessions")

HOST = Host(
    name="vscode",
    title="VS Code",
    kinds=("vscode",),
    directories=(Location("", ".config/Code/User"), Location("", "Library/Application Support/Code/User")),
    histories=in_application_directories(*(f"{edition}/User/{place}" for edition in _EDITIONS for place in _SESSIONS)),
    session_files=r"[^/]+\.jsonl?",
    evidence="source code",
)
