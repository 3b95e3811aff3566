"""The hooks that Palazzo wires into Codex."""

from __future__ import annotations

from palazzo.hosts.hook_wiring import PASSED_ON, UNTIL_ARCHIVED, Hook, HostHooks

WIRING = HostHooks(
    "codex",
    "Codex",
    False,
    (
        Hook("SessionStart", "session-start"),
        Hook("UserPromptSubmit", "prompt"),
        Hook("PostToolUse", "post-tool", "Bash|update_plan"),
        Hook("SubagentStop", "subagent-stop"),
        Hook("Stop", "stop"),
        Hook("PreCompact", "pre-compact", seconds=UNTIL_ARCHIVED),
        Hook("SessionEnd", "session-end", seconds=3),  # it complains about more
    ),
    passed_on=PASSED_ON,
)
