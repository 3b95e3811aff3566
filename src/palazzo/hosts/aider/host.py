"""What Palazzo knows of aider, as version 0.86.2 was run, and from its source code.

aider writes into the directory in which it is started, so its history is found only in that directory.
"""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="aider",
    title="Aider",
    program="aider",
    kinds=("aider",),
    directories=(Location("", ".aider"),),
    project_history=Location("AIDER_CHAT_HISTORY_FILE", ".aider.chat.history.md"),
    evidence="program",
    versions=("0.86.2",),
)
