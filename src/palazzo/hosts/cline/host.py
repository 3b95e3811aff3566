"""What Palazzo knows of Cline, as version 3.0.65 of its program was run, and from the source code of version 4.1.13.

Its files: `apps/vscode/src/core/storage/disk.ts` and `sdk/packages/shared/src/storage/paths.ts`. Version 3 kept the MCP
servers and its tasks in the directory of the editor extension.
"""

from __future__ import annotations

from palazzo.hosts.editor_storage import extension_storage
from palazzo.hosts.host_descriptor import Host, Location, ResumeCommand

HOST = Host(
    name="cline",
    title="Cline",
    program="cline",
    kinds=("cline",),
    directories=(
        Location("CLINE_DIR", ".cline"),
        Location("", ".config/Code/User/globalStorage/saoudrizwan.claude-dev"),
        Location("", "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev"),
    ),
    histories=(
        Location("CLINE_SESSION_DATA_DIR", ""),
        Location("CLINE_DATA_DIR", "", ("sessions", "tasks")),
        Location("CLINE_DIR", ".cline", ("data/sessions", "data/tasks")),
        *extension_storage("saoudrizwan.claude-dev", "tasks"),
    ),
    session_files=r"[^/]+/(?:[^/]+\.messages|api_conversation_history)\.json",
    resume=ResumeCommand(("cline", "--id", "ID"), ("ID/ID.messages.json",), is_restorable=False),
    evidence="program",
    versions=("3.0.65",),
)
