"""What Palazzo knows of Cline, as version 3.0.65 of its program was run, and from the source code of version 4.1.13.

Its files: `apps/vscode/src/core/storage/disk.ts` and `sdk/packages/shared/src/storage/paths.ts`. Version 3 kept the MCP
servers in the directory of the editor extension.
"""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="cline",
    title="Cline",
    program="cline",
    directories=(
        Location("CLINE_DIR", ".cline"),
        Location("", ".config/Code/User/globalStorage/saoudrizwan.claude-dev"),
        Location("", "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev"),
    ),
    evidence="program",
    versions=("3.0.65",),
)
