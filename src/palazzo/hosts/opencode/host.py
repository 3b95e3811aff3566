"""What Palazzo knows of opencode, as version 1.18.33 was run, and from its source code."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location, ResumeCommand

HOST = Host(
    name="opencode",
    title="opencode",
    program="opencode",
    kinds=("opencode",),
    directories=(Location("OPENCODE_CONFIG_DIR", ".config/opencode"), Location("", ".local/share/opencode")),
    histories=(
        Location("OPENCODE_DB", ""),
        Location("XDG_DATA_HOME", ".local/share", ("opencode/opencode*.db", "opencode/storage")),
    ),
    resume=ResumeCommand(("opencode", "--session", "ID"), preparation=("opencode", "import", "FILE")),
    prompt_command="opencode --prompt",
    agent_variables=("OPENCODE",),
    skills=Location("OPENCODE_CONFIG_DIR", ".config/opencode", ("skills",)),
    project_skills=".opencode/skills",
    evidence="program",
    versions=("1.18.33",),
)
