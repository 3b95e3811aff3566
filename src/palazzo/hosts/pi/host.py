"""What Palazzo knows of pi, as versions 0.87 and 0.99 were run."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location, ResumeCommand

HOST = Host(
    name="pi",
    title="pi",
    program="pi",
    kinds=("pi",),
    directories=(Location("PI_CODING_AGENT_DIR", ".pi/agent"),),
    histories=(
        Location("PI_CODING_AGENT_SESSION_DIR", ""),
        Location("PI_CODING_AGENT_DIR", ".pi/agent", ("sessions",)),
    ),
    session_files=r".+\.jsonl",
    resume=ResumeCommand(("pi", "--session", "ID"), ("*/*_ID.jsonl",), needs_directory=True),
    prompt_command="pi",
    agent_variables=("PI_SESSION_ID",),
    session_variable="PI_SESSION_ID",
    skills=Location("PI_CODING_AGENT_DIR", ".pi/agent", ("skills",)),
    project_skills=".pi/skills",
    evidence="program",
    versions=("0.87.1", "0.99.1"),
)
