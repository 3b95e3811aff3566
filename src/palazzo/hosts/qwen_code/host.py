"""What Palazzo knows of Qwen Code, as version 0.24.4 was run, and from its source code."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location, ResumeCommand

HOST = Host(
    name="qwen-code",
    title="Qwen Code",
    program="qwen",
    kinds=("qwen",),
    directories=(Location("QWEN_HOME", ".qwen"),),
    histories=(Location("QWEN_RUNTIME_DIR", "", ("projects",)), Location("QWEN_HOME", ".qwen", ("projects",))),
    session_files=r"[^/]+/chats/[^/]+\.jsonl",
    resume=ResumeCommand(("qwen", "--resume", "ID"), ("*/chats/ID.jsonl",), needs_directory=True),
    agent_variables=("QWEN_CODE",),
    skills=Location("QWEN_HOME", ".qwen", ("skills",)),
    project_skills=".qwen/skills",
    evidence="program",
    versions=("0.24.4",),
)
