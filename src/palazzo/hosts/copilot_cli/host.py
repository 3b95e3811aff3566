"""What Palazzo knows of Copilot CLI, as version 1.0.102 was run."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location, ResumeCommand

HOST = Host(
    name="copilot",
    title="Copilot CLI",
    program="copilot",
    kinds=("copilot",),
    histories=(Location("COPILOT_HOME", ".copilot", ("session-state",)),),
    session_files=r"(.*/)?events\.jsonl",
    resume=ResumeCommand(("copilot", "--resume", "ID"), ("ID/events.jsonl",)),
    prompt_command="copilot --interactive",
    agent_variables=("COPILOT_CLI",),
    skills=Location("COPILOT_HOME", ".copilot", ("skills",)),
    project_skills=".github/skills",
    evidence="program",
    versions=("1.0.102",),
)
