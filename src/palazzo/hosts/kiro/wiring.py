"""The hooks that Palazzo wires into Kiro.

Hooks after tools are left out: Kiro discards what they print, and its editor shows a card for each run of a hook.
"""

from __future__ import annotations

from palazzo.hosts.hook_wiring import Hook, HostHooks

WIRING = HostHooks(
    "kiro",
    "Kiro",
    False,
    (Hook("SessionStart", "session-start"), Hook("UserPromptSubmit", "prompt"), Hook("Stop", "stop")),
)
