"""Cline's hooks: an executable script for each event, whose name is the event's. A directory has one of each name, so
a script of the person's stays, and Palazzo has no hook for that event.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from palazzo.hosts import entry_matcher
from palazzo.hosts.cline.wiring import WIRING
from palazzo.hosts.entry_matcher import Ours
from palazzo.hosts.hook_format import HookFormat
from palazzo.hosts.hook_wiring import HostHooks
from palazzo.hosts.host_settings import Handler

_HEAD = "#!/bin/sh\n# Written by 'palazzo install cline'; 'palazzo uninstall cline' removes it.\nexec "


def with_hooks(text: str | None, wiring: HostHooks, program: str, more: Sequence[str]) -> str:
    """Return the script that starts the only hook of `wiring`; a script of the person's stays as it is."""
    if text is not None and not text.startswith(_HEAD):
        return text
    (hook,) = wiring.hooks
    return f"{_HEAD}{shlex.join([program, 'hook', wiring.host, hook.event, *more])}\n"


def without_hooks(text: str | None, host: str) -> str | None:
    """Return None for our script; another script stays."""
    return None if text is None or text.startswith(_HEAD) else text


def our_hooks(text: str, host: str) -> list[tuple[Handler, Ours]]:
    """Return the hook that our script starts, or that a person calls in a script of their own."""
    commands = (line.strip().removeprefix("exec ") for line in text.splitlines() if "palazzo" in line)
    names: dict[str, str] = {hook.event: hook.name for hook in WIRING.hooks}
    return [
        (Handler(names.get(launch.asks[2], launch.asks[2]), (), (), {"command": command}, True), launch)
        for command in commands
        if (launch := entry_matcher.hook({"command": command}, host)) is not None
    ]


FORMAT = HookFormat(with_hooks, without_hooks, our_hooks, is_shared=False, has_scripts=True)
