"""The hooks that Palazzo wires into Qwen Code.

PreCompact is left out: the transcript keeps what is compressed. Times are in seconds, as current versions count them;
a number of at least 1,000 would still be milliseconds there.
"""

from __future__ import annotations

from palazzo.hosts.hook_wiring import Hook, HostHooks

WIRING = HostHooks(
    "qwen-code",
    "Qwen Code",
    False,
    (
        Hook("SessionStart", "session-start"),
        Hook("UserPromptSubmit", "prompt"),
        Hook("PreToolUse", "pre-tool", "read_file|edit|write_file", optional=True),
        Hook("PostToolUse", "post-tool", "read_file|run_shell_command|grep_search|todo_write"),
        Hook("PostToolUseFailure", "tool-failure", "run_shell_command"),
        Hook("Stop", "stop"),
        Hook("SessionEnd", "session-end"),
    ),
    has_comments=True,
)
