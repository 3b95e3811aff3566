"""The hook that Palazzo wires into Cursor: what is added at a session's start is the only thing that Cursor's hooks
are known to put before the model.
"""

from __future__ import annotations

from palazzo.hosts.hook_wiring import Hook, HostHooks

WIRING = HostHooks("cursor", "Cursor", False, (Hook("sessionStart", "session-start"),), file_version=1)
