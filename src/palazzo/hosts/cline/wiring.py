"""The hooks that Palazzo wires into Cline: a person's prompt, what a tool returned, and the answer at a turn's end.

On Windows Cline runs hooks by PowerShell, as scripts that Palazzo does not write.
"""

from __future__ import annotations

import sys

from palazzo.hosts.hook_wiring import Hook, HostHooks

_HOOKS = (Hook("UserPromptSubmit", "prompt"), Hook("PostToolUse", "post-tool"), Hook("TaskComplete", "stop"))
WIRING = HostHooks("cline", "Cline", False, () if sys.platform == "win32" else _HOOKS)
