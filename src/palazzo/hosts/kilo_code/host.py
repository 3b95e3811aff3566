"""What Palazzo knows of Kilo Code, as version 7.7.9 of its program was run, and from its source code
(`packages/opencode` in Kilo-Org/kilocode).

Since version 7, the program and the editor extension are built on opencode, and share its settings, instructions,
plugins and database under the name `kilo`.
"""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="kilo-code",
    title="Kilo Code",
    program="kilo",
    kinds=("kilo",),
    directories=(Location("", ".config/kilo"), Location("", ".local/share/kilo")),
    histories=(Location("KILO_DB", ""), Location("XDG_DATA_HOME", ".local/share", ("kilo/kilo*.db",))),
    skills=Location("XDG_CONFIG_HOME", ".config", ("kilo/skills",)),
    project_skills=".kilo/skills",
    evidence="program",
    versions=("7.7.9",),
)
