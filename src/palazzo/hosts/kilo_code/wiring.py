"""What Palazzo wires into Kilo Code: the plugin for opencode, which receives every event."""

from __future__ import annotations

from palazzo.hosts.hook_wiring import Hook, HostHooks

WIRING = HostHooks("kilo-code", "Kilo Code", True, (Hook("plugin", "session-start"),))
