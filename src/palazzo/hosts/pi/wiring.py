"""What Palazzo wires into pi: its extension is ours, receives every event, and also starts the MCP server."""

from __future__ import annotations

from palazzo.hosts.hook_wiring import Hook, HostHooks

WIRING = HostHooks("pi", "pi", True, (Hook("extension", "session-start"),))
