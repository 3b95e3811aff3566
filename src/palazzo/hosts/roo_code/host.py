"""What Palazzo knows of Roo Code, from its source code (`src/services/roo-config`, `src/shared/globalFileNames.ts`)."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="roo-code",
    title="Roo Code",
    directories=(
        Location("", ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline"),
        Location("", "Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline"),
    ),
    evidence="source code",
)
