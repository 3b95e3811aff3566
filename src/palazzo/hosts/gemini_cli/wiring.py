"""The hooks that Palazzo wires into Gemini CLI.

PreCompress is left out: version 0.61 sends it before each request to the model, also if nothing is compressed, and the
transcript keeps what is compressed.
"""

from __future__ import annotations

from palazzo.hosts.hook_wiring import Hook, HostHooks

WIRING = HostHooks(
    "gemini-cli",
    "Gemini CLI",
    False,
    (
        Hook("SessionStart", "session-start"),
        Hook("BeforeAgent", "prompt"),
        Hook("BeforeTool", "pre-tool", "read_file|replace|write_file", optional=True),
        Hook("AfterTool", "post-tool", "read_file|run_shell_command|search_file_content|write_todos"),
        Hook("AfterAgent", "stop"),
        Hook("SessionEnd", "session-end"),
    ),
    in_milliseconds=True,
    has_comments=True,
)
