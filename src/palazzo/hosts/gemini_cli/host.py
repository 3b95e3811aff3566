"""What Palazzo knows of Gemini CLI, as version 0.61 was run."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location, ResumeCommand

HOST = Host(
    name="gemini-cli",
    title="Gemini CLI",
    program="gemini",
    kinds=("gemini",),
    directories=(Location("", ".gemini"),),
    histories=(Location("GEMINI_CLI_HOME", "", (".gemini/tmp",)), Location("", ".gemini", ("tmp",))),
    session_files=r"(.*/)?chats/.+\.jsonl?",
    resume=ResumeCommand(("gemini", "--resume", "ID"), ("*/chats/*.json*",), needs_directory=True),
    prompt_command="gemini --prompt-interactive",
    agent_variables=("GEMINI_CLI",),
    skills=Location("", ".gemini", ("skills",)),
    project_skills=".gemini/skills",
    evidence="program",
    versions=("0.61.0",),
)
