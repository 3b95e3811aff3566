"""install copilot: a file of hooks of our own, the MCP server in mcp-config.json, and a few lines of instructions.

Copilot CLI reads each file in its directory of hooks, so Palazzo's file contains only Palazzo's hooks:

    {"version": 1, "hooks": {"agentStop": [{"type": "command", "bash": "palazzo hook copilot stop", "timeoutSec": 10}]}}
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from palazzo.errors import UsageError
from palazzo.hosts import entry_matcher, hook_wiring, host_files, host_settings, install_host
from palazzo.hosts.copilot_cli.paths import files_of
from palazzo.hosts.copilot_cli.server import SERVERS
from palazzo.hosts.copilot_cli.wiring import WIRING
from palazzo.hosts.edited_files import Edit
from palazzo.hosts.entry_matcher import Ours
from palazzo.hosts.host_settings import Handler
from palazzo.hosts.install_host import HOOKS, SERVER
from palazzo.hosts.install_plan import InstallOptions, InstallPlace, Plan
from palazzo.hosts.installer import Installer
from palazzo.hosts.memory_block import BODY
from palazzo.hosts.own_program import own_program

_NEXT = "Next: restart Copilot CLI."
_SHELL = "powershell" if sys.platform == "win32" else "bash"


def plan(context: InstallPlace, request: InstallOptions) -> Plan:
    """Return the edits to make; UsageError if Copilot CLI is not found here."""
    _check_scope(request.project)
    files = files_of(context.variables)
    host_files.check_present(WIRING.title, "copilot", files, context.variables)
    program, more = own_program(context.variables), install_host.palace_option(context)
    optional = ["pre-tool"] if context.settings.flag("events.pre-tool") else []
    hooks_text = hooks_document(program, more, optional)
    entry = SERVERS.entry(program, ["mcp", *more])
    edits = [
        Edit(files.hooks, HOOKS, lambda text: _with_hooks(text, hooks_text)),
        Edit(files.servers, SERVER, lambda text: SERVERS.format.with_server(text, entry)),
        *install_host.write_instructions(WIRING.host, files, BODY, shared=False),
    ]
    predecessors = install_host.predecessors_in(files, SERVERS.format)
    final_edits = [edits[0], *install_host.add_cleanup(edits[1:], SERVERS.format)] if request.clean else edits
    notes = [*install_host.remarks(context, shared=False), _NEXT]
    return Plan((), "\n".join(notes), tuple(final_edits), tuple(predecessors))


def removal(context: InstallPlace, project: bool, user: bool) -> list[Edit]:
    """Return the edits that remove everything again."""
    _check_scope(project)
    files = files_of(context.variables)
    return [
        Edit(files.hooks, HOOKS, lambda text: None if text is None or _is_ours(text) else text),
        Edit(files.servers, SERVER, lambda text: SERVERS.format.remove_servers(text, host_settings.is_our_server)),
        *install_host.remove_instructions(WIRING.host, files),
    ]


def hooks_document(program: str, more: list[str], optional: list[Any]) -> str:
    """Return the text of our file of hooks."""
    platform: hook_wiring.Platform = "nt" if sys.platform == "win32" else "posix"
    groups = hook_wiring.entries(WIRING, program, more, optional, platform)
    hooks = {event: [_handler(handler) for handler in group["hooks"]] for event, group in groups.items()}
    return json.dumps({"version": 1, "hooks": hooks}, indent=2, ensure_ascii=False) + "\n"


def our_hooks(text: str) -> list[tuple[Handler, Ours]]:
    """Return the hooks in the text that start Palazzo; raises ValueError if it is no file of hooks."""
    return [
        (Handler(event, (), (), {"command": command}, True), launch)
        for event, command in _commands(text)
        if (launch := entry_matcher.hook({"command": command}, WIRING.host)) is not None
    ]


def _handler(handler: dict[str, Any]) -> dict[str, Any]:
    """Return a handler in Copilot CLI's form. PowerShell starts a quoted program only after `&`."""
    command = f"& {handler['command']}" if _SHELL == "powershell" else handler["command"]
    return {"type": "command", _SHELL: command, "timeoutSec": handler["timeout"]}


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield the event and the command of each hook."""
    hooks = host_settings.setting(text, "hooks")
    if not isinstance(hooks, dict):
        raise ValueError("it has no object `hooks`")
    for event, handlers in hooks.items():
        for handler in handlers if isinstance(handlers, list) else ():
            command = handler.get(_SHELL) if isinstance(handler, dict) else None
            yield event, command.removeprefix("& ") if isinstance(command, str) else ""


def _is_ours(text: str) -> bool:
    """Return whether the file contains only hooks of ours."""
    try:
        return len(our_hooks(text)) == len([*_commands(text)]) > 0
    except ValueError:
        return False


def _with_hooks(text: str | None, hooks_text: str) -> str:
    if text is not None and not _is_ours(text):
        raise ValueError("it was not written by 'palazzo install copilot'")
    return hooks_text


def _check_scope(project: bool) -> None:
    if project:
        raise UsageError("Copilot CLI is wired for you, not for a project; run the command without --project.")


INSTALLER = Installer(
    WIRING,
    files_of,
    plan,
    removal,
    our_hooks=our_hooks,
    servers=SERVERS.servers,
    runs_twice=False,
)
