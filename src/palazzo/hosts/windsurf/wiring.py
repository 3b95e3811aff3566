"""The hooks that Palazzo wires into Windsurf: a person's prompt, and the answer to it.

The other hooks tell of single reads, edits and commands without their output, and nothing that a hook says about them
reaches the model.
"""

from __future__ import annotations

from palazzo.hosts.hook_wiring import Hook, HostHooks

WIRING = HostHooks(
    "windsurf",
    "Windsurf",
    False,
    (Hook("pre_user_prompt", "prompt"), Hook("post_cascade_response", "stop")),
    entry_fields=(("show_output", False),),
)
