"""What Palazzo knows of Claude Code, as versions 2.1.197 and 2.1.330 were run."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location, ResumeCommand

HOST = Host(
    name="claude-code",
    title="Claude Code",
    aliases=("claude",),
    program="claude",
    kinds=("claude-code",),
    directories=(Location("CLAUDE_CONFIG_DIR", ".claude"),),
    histories=(
        Location("CLAUDE_CONFIG_DIR", ".claude", ("projects",)),
        Location("", ".config/claude", ("projects",)),
    ),
    session_files=r".+\.jsonl",
    retention_setting="cleanupPeriodDays",
    resume=ResumeCommand(("claude", "--resume", "ID"), ("*/ID.jsonl",), needs_directory=True),
    prompt_command="claude",
    agent_variables=("CLAUDECODE",),
    session_variable="CLAUDE_CODE_SESSION_ID",
    skills=Location("CLAUDE_CONFIG_DIR", ".claude", ("skills",)),
    project_skills=".claude/skills",
    evidence="program",
    versions=("2.1.197", "2.1.330"),
)
