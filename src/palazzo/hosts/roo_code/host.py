"""What Palazzo knows of Roo Code, from its source code (`src/services/roo-config`, `src/shared/globalFileNames.ts`,
`src/core/task-persistence`).
"""

from __future__ import annotations

from palazzo.hosts.editor_storage import extension_storage
from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="roo-code",
    title="Roo Code",
    kinds=("roo-code",),
    directories=(
        Location("", ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline"),
        Location("", "Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline"),
    ),
    histories=extension_storage("rooveterinaryinc.roo-cline", "tasks"),
    session_files=r"[^/]+/api_conversation_history\.json",
    evidence="source code",
)
