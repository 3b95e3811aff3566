"""What Palazzo knows of Codex, as versions 0.44 to 0.169 were run."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location, ResumeCommand

HOST = Host(
    name="codex",
    title="Codex",
    aliases=("openai-codex",),
    program="codex",
    kinds=("codex",),
    directories=(Location("CODEX_HOME", ".codex"),),
    histories=(Location("CODEX_HOME", ".codex", ("sessions", "archived_sessions")),),
    session_files=r"(.*/)?rollout-[^/]+\.jsonl(\.zst)?",
    resume=ResumeCommand(("codex", "resume", "ID"), ("**/rollout-*-ID.jsonl", "**/rollout-*-ID.jsonl.zst")),
    prompt_command="codex",
    agent_variables=("CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_CI"),
    session_variable="CODEX_THREAD_ID",
    skills=Location("CODEX_HOME", ".codex", ("skills",)),
    project_skills=".codex/skills",
    evidence="program",
    versions=("0.44.0", "0.80.0", "0.169.0"),
)
