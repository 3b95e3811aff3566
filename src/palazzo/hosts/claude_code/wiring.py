"""The hooks that Palazzo wires into Claude Code."""

from __future__ import annotations

from palazzo.hosts.hook_wiring import UNTIL_ARCHIVED, Hook, HostHooks

WIRING = HostHooks(
    "claude-code",
    "Claude Code",
    True,
    (
        Hook("SessionStart", "session-start"),
        Hook("UserPromptSubmit", "prompt"),
        Hook("PreToolUse", "pre-tool", "Read|Edit|Write|MultiEdit|NotebookEdit", optional=True),
        Hook("PostToolUse", "post-tool", "Read|Bash|PowerShell|Grep|Agent|Task|TodoWrite"),
        Hook("PostToolUseFailure", "tool-failure", "Bash|PowerShell"),
        Hook("SubagentStart", "subagent-start"),
        Hook("SubagentStop", "subagent-stop"),
        Hook("Stop", "stop"),
        Hook("PreCompact", "pre-compact", seconds=UNTIL_ARCHIVED),
        Hook("SessionEnd", "session-end"),  # without a time-out that is said, it is ended after 1.5 seconds
    ),
    server_type="stdio",
)
