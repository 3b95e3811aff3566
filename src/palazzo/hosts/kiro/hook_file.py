"""Kiro's files of hooks: it reads each file in its directory of hooks, so Palazzo's has only Palazzo's hooks.

{"version": "v1", "hooks": [{"name": "palazzo-stop", "trigger": "Stop", "timeout": 10, "enabled": true,
                             "action": {"type": "command", "command": "palazzo hook kiro stop"}}]}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from palazzo.hosts import entry_matcher
from palazzo.hosts.entry_matcher import Ours
from palazzo.hosts.hook_format import HookFormat
from palazzo.hosts.hook_wiring import HostHooks, command_line
from palazzo.hosts.host_settings import Handler, setting


def with_hooks(text: str | None, wiring: HostHooks, program: str, more: Sequence[str]) -> str:
    """Return the text of our file; a hook that the person switched off stays off."""
    if text is not None and not _is_ours(text, wiring.host):
        raise ValueError(f"it was not written by 'palazzo install {wiring.host}'")
    disabled = {str(hook.get("trigger")) for hook in _hooks(text or "{}") if hook.get("enabled") is False}
    hooks = [
        {
            "name": f"palazzo-{hook.event}",
            "trigger": hook.name,
            "timeout": hook.seconds,
            "enabled": hook.name not in disabled,
            "action": {"type": "command", "command": command_line(wiring.host, hook.event, program, more)},
        }
        for hook in wiring.hooks
    ]
    return json.dumps({"version": "v1", "hooks": hooks}, indent=2, ensure_ascii=False) + "\n"


def without_hooks(text: str | None, host: str) -> str | None:
    """Return None for our file; another file stays."""
    return None if text is None or _is_ours(text, host) else text


def our_hooks(text: str, host: str) -> list[tuple[Handler, Ours]]:
    """Return the hooks that start Palazzo and are switched on."""
    return [
        (Handler(str(hook.get("trigger")), (), (), hook["action"], True), launch)
        for hook in _hooks(text)
        if hook.get("enabled") is not False and (launch := _launch(hook, host)) is not None
    ]


def _hooks(text: str) -> Iterator[dict[str, Any]]:
    hooks = setting(text, "hooks")
    yield from (hook for hook in hooks if isinstance(hook, dict)) if isinstance(hooks, list) else ()


def _launch(hook: dict[str, Any], host: str) -> Ours | None:
    return entry_matcher.hook(hook.get("action"), host)


def _is_ours(text: str, host: str) -> bool:
    """Return whether the file contains only hooks of ours."""
    hooks = [*_hooks(text)]
    return bool(hooks) and all(_launch(hook, host) for hook in hooks)


FORMAT = HookFormat(with_hooks, without_hooks, our_hooks, is_shared=False)
