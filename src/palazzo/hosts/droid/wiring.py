"""The hooks that Palazzo wires into Droid. Times are in seconds."""

from __future__ import annotations

from palazzo.hosts.hook_wiring import Hook, HostHooks

WIRING = HostHooks(
    "droid",
    "Droid",
    False,
    (
        Hook("SessionStart", "session-start"),
        Hook("UserPromptSubmit", "prompt"),
        Hook("PostToolUse", "post-tool", "Read|Execute|Grep"),
        Hook("Stop", "stop"),
        Hook("SessionEnd", "session-end"),
    ),
    server_type="stdio",
    has_comments=True,
)
