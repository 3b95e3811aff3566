"""What Palazzo wires into opencode: its plugin is ours, and receives every event."""

from __future__ import annotations

from palazzo.hosts.hook_wiring import Hook, HostHooks

WIRING = HostHooks("opencode", "opencode", True, (Hook("plugin", "session-start"),))
