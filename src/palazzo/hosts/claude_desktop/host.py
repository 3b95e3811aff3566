"""What Palazzo knows of Claude Desktop: of its settings, from its documentation; of its sessions, from public readers.

Its chats are kept on Anthropic's server; an export of them can be mined. The sessions of its Code tab are Claude Code's
own, in `~/.claude/projects`, and are read as such: what `Claude/claude-code-sessions` has is only a list of them. The
sessions of its local agent mode (Cowork) are read by `transcript.py`.
"""

from __future__ import annotations

from palazzo.hosts.application_directories import in_application_directories
from palazzo.hosts.host_descriptor import Host, Location

_SESSIONS = "Claude/local-agent-mode-sessions/*/*"
_PROJECTS = ".claude/projects"

HOST = Host(
    name="claude-desktop",
    title="Claude Desktop",
    client="claude-ai",
    kinds=("claude-desktop",),
    directories=(Location("", "Library/Application Support/Claude"), Location("", ".config/Claude")),
    histories=in_application_directories(f"{_SESSIONS}/local_*/{_PROJECTS}", f"{_SESSIONS}/agent/local_*/{_PROJECTS}"),
    session_files=r".+\.jsonl",
    history_note="local agent mode; chats are kept on its server",
    evidence="public readers",
)
