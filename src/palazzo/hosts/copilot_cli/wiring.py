"""The hooks that Palazzo wires into Copilot CLI. It has no matcher, so each tool call starts a hook."""

from __future__ import annotations

from palazzo.hosts.hook_wiring import Hook, HostHooks

WIRING = HostHooks(
    "copilot",
    "Copilot CLI",
    False,
    (
        Hook("sessionStart", "session-start"),
        Hook("userPromptSubmitted", "prompt"),
        Hook("preToolUse", "pre-tool", optional=True),
        Hook("postToolUse", "post-tool"),
        Hook("postToolUseFailure", "tool-failure"),
        Hook("agentStop", "stop"),
        Hook("sessionEnd", "session-end"),
    ),
)
