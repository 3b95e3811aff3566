"""Wiring: Palazzo's entries in a host's settings, that is, which hook starts which command, and the MCP server.

The module `wiring` of each host's folder has its table. `palazzo install` writes it, the plugins in `integrations/` are
kept equal to it, and `features/hosts/install_state` compares the found entries with it. A stored command line never
changes between versions: Codex asks the person to trust a changed one again, and until then runs none.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Collection, Sequence
from typing import Any, Literal

from palazzo.frozen_class import frozen
from palazzo.injection.hook_events import Event

Platform = Literal["posix", "nt"]

SERVER = "palazzo"
"""The name of the MCP server in a host."""
PROGRAM = "palazzo"
"""The command that starts Palazzo if its path is unknown: in a plugin, or in shared settings."""
PASSED_ON = (
    *("PALAZZO_PALACE", "PALAZZO_SERVICE", "PALAZZO_OFF"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"),
)
"""Variables that Codex must pass on to the server. By default it passes few, so that the server would look for the
palace, the settings and the service in other places than hooks do.
"""
SECONDS = 10
"""Seconds until a host gives up. A hook ends within one; a busy machine takes longer to start any process."""
UNTIL_ARCHIVED = 60
"""The timeout of the hook before a compaction, which archives the session within ten seconds."""


@frozen
class Hook:
    """One entry: the host's name of the event, the tools that it matches (all if `matcher` is empty), and our event.

    An `optional` entry is written if the setting `events.<event>` is on, and is in no plugin: while it is off, each
    tool call would start a process that does nothing.
    """

    name: str
    event: Event
    matcher: str = ""
    seconds: int = SECONDS
    optional: bool = False


@frozen
class HostHooks:
    """A host's hooks. `has_arguments` says that it starts a program with an argument list, without a shell.

    `server_type` is what its entry of an MCP server calls a program that is started, `passed_on` the variables that it
    must be told to pass on to the server. `in_milliseconds` says how the host counts a hook's time, `has_comments` that
    it reads comments in its settings. `entry_fields` are in each entry of a file of flat hooks, `file_version` is the
    version that such a file states, if it states any.
    """

    host: str
    title: str
    has_arguments: bool
    hooks: tuple[Hook, ...]
    server_type: str = ""
    passed_on: tuple[str, ...] = ()
    in_milliseconds: bool = False
    has_comments: bool = False
    entry_fields: tuple[tuple[str, Any], ...] = ()
    file_version: int = 0


def entries(
    host_hooks: HostHooks,
    program: str = PROGRAM,
    more: Sequence[str] = (),
    optional: Collection[Event] = (),
    platform: Platform = "posix",
) -> dict[str, dict[str, Any]]:
    """Return, for each of the host's events, the group to put into its list of groups.

        {"Stop": {"hooks": [{"type": "command", "command": "palazzo", "args": ["hook", …], "timeout": 10}]}, …}

    `program` starts Palazzo there, `more` is added to each command line (`--palace PATH`), and `optional` names the
    optional events that are wanted.
    """
    groups_by_event = {}
    for hook in host_hooks.hooks:
        if not hook.optional or hook.event in optional:
            group: dict[str, Any] = {"matcher": hook.matcher} if hook.matcher else {}
            groups_by_event[hook.name] = group | {"hooks": [_handler(host_hooks, hook, program, more, platform)]}
    return groups_by_event


def command_line(host: str, event: Event, program: str = PROGRAM, more: Sequence[str] = ()) -> str:
    """Return the command line of a hook, for the shell of this platform."""
    line = subprocess.list2cmdline if sys.platform == "win32" else shlex.join
    return line([program, "hook", host, event, *more])


def server(host_hooks: HostHooks, program: str = PROGRAM, more: Sequence[str] = ()) -> dict[str, Any]:
    """Return the MCP server's entry for the host's settings."""
    kind = {"type": host_hooks.server_type} if host_hooks.server_type else {}
    passed = {"env_vars": list(host_hooks.passed_on)} if host_hooks.passed_on else {}
    return kind | {"command": program, "args": ["mcp", *more]} | passed


def status_line(program: str = PROGRAM, more: Sequence[str] = (), platform: Platform = "posix") -> dict[str, Any]:
    """Return the status line's entry for Claude Code's settings, which starts it through a shell."""
    line = subprocess.list2cmdline if platform == "nt" else shlex.join
    return {"type": "command", "command": line([program, "statusline", *more])}


def _handler(
    host_hooks: HostHooks, hook: Hook, program: str, more: Sequence[str], platform: Platform
) -> dict[str, Any]:
    words = ["hook", host_hooks.host, hook.event, *more]
    command_fields: dict[str, Any] = {"command": program, "args": words}
    if not host_hooks.has_arguments:
        line = subprocess.list2cmdline if platform == "nt" else shlex.join
        command_fields = {"command": line([program, *words])}
    return (
        {"type": "command"} | command_fields | {"timeout": hook.seconds * (1000 if host_hooks.in_milliseconds else 1)}
    )
