"""install claude-code: hooks and the MCP server in Claude Code's settings, and a few lines in CLAUDE.md.

The status line is written only on request, and only if there is none yet.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from palazzo.hosts import (
    entry_matcher,
    hook_wiring,
    host_files,
    host_settings,
    install_host,
    predecessor_files,
    predecessors,
)
from palazzo.hosts.claude_code.paths import files_of
from palazzo.hosts.claude_code.wiring import WIRING
from palazzo.hosts.edited_files import Edit
from palazzo.hosts.hook_wiring import PROGRAM
from palazzo.hosts.host_files import HostFiles
from palazzo.hosts.install_host import EVERY_SERVER, JSON
from palazzo.hosts.install_plan import InstallOptions, InstallPlace, Plan
from palazzo.hosts.installer import Finding, Installer
from palazzo.hosts.managed_settings import ManagedSettings
from palazzo.hosts.own_program import own_program
from palazzo.hosts.predecessors import Predecessor

_NEXT = (
    "Next: restart Claude Code; a running session keeps the hooks that it started with. 'palazzo doctor' tests them."
)
_PLUGIN = (
    "The plugin 'palazzo' is also enabled: disable it (/plugin), or uninstall this; with both, every hook runs twice "
    "and every tool is listed twice."
)
_OTHER_LINE = (
    "The status line belongs to another program and stays unchanged; its script can add the output of 'palazzo "
    "statusline'."
)
_DISABLED = "The plugins are disabled and stay installed; 'claude plugin uninstall NAME' removes one."
MANAGED = ManagedSettings(
    {
        "linux": "/etc/claude-code/managed-settings.json",
        "darwin": "/Library/Application Support/ClaudeCode/managed-settings.json",
        "win32": "C:/Program Files/ClaudeCode/managed-settings.json",
    },
    {"disableAllHooks": True, "allowManagedHooksOnly": True},
)
_APPROVE = "Claude Code asks each person once whether it may start the project's MCP server."


def plan(context: InstallPlace, request: InstallOptions) -> Plan:
    """Return the edits to make; UsageError if Claude Code is not found here."""
    project = install_host.scope(context, request.project, request.user)
    files = files_of(context.variables, project)
    if project is None:
        host_files.check_present(WIRING.title, "claude", files, context.variables)
    hooks, *others_of_ours = install_host.build_install_edits(context, WIRING, files, JSON, project is not None)
    edits = [_with_status_line(context, hooks, project is not None, request.status_line), *others_of_ours]
    host_directory = files.directory if project is None else project / ".claude"
    plugins = _plugins_of_others(files)
    others = [
        *install_host.predecessors_in(files, EVERY_SERVER),
        *plugins,
        *predecessor_files.leftovers(host_directory),
    ]
    notes = [*install_host.remarks(context, project is not None), *([_APPROVE] if project else []), _NEXT]
    if host_settings.has_plugin(host_files.text_of(files.hooks)):
        notes.insert(0, _PLUGIN)
    if request.status_line and host_settings.has_other_status_line(host_files.text_of(files.hooks)):
        notes.insert(0, _OTHER_LINE)
    if request.clean:
        notes[:0] = [_DISABLED] if plugins else []
        hooks, *others_of_ours = install_host.add_cleanup(edits, EVERY_SERVER)
        edits = [
            replace(hooks, change=install_host.both(_disable_plugins_of_others, hooks.change)),
            *others_of_ours,
            *predecessor_files.build_leftover_edits(host_directory),
        ]
    return Plan((), "\n".join(notes), tuple(edits), tuple(others))


def removal(context: InstallPlace, project: bool, user: bool) -> list[Edit]:
    """Return the edits that remove everything again."""
    files = files_of(context.variables, install_host.scope(context, project, user))
    hooks, *remaining_edits = install_host.build_uninstall_edits(WIRING, files, JSON)
    return [replace(hooks, change=install_host.both(host_settings.without_status_line, hooks.change)), *remaining_edits]


def _plugins_of_others(files: HostFiles) -> list[Predecessor]:
    try:
        plugins = predecessors.plugins_in(host_files.text_of(files.hooks) or "{}")
    except ValueError:  # the edit of the file reports it
        return []
    return [Predecessor(memory, str(files.hooks), what) for memory, what in plugins]


def _disable_plugins_of_others(text: str | None) -> str | None:
    return host_settings.with_disabled_plugins(text, predecessors.is_plugin)


def _with_status_line(context: InstallPlace, hooks: Edit, shared: bool, is_new: bool) -> Edit:
    """Return the edit of the settings, with the status line: ours is updated, another program's stays."""
    program = PROGRAM if shared else own_program(context.variables)
    more = [] if shared else install_host.palace_option(context)
    entry = hook_wiring.status_line(program, more, "nt" if sys.platform == "win32" else "posix")

    def add(text: str | None) -> str | None:
        return None if text is None else host_settings.with_status_line(text, entry, is_new)

    return replace(hooks, change=install_host.both(hooks.change, add))


# --- how it stands -----------------------------------------------------------------------------------------


def _has_plugin(own: HostFiles, project: HostFiles) -> bool:
    return any(host_settings.has_plugin(host_files.text_of(path)) for path in (own.hooks, project.hooks))


def _handlers(text: str) -> Sequence[Any]:
    handlers = [handler.value for handler in host_settings.handlers(text)]
    return [*handlers, host_settings.setting(text, "statusLine")]


def _findings(variables: Mapping[str, str], own: HostFiles, project: HostFiles) -> Iterator[Finding]:
    settings = host_files.text_of(own.hooks)
    line = entry_matcher.status_line(host_settings.setting(settings, "statusLine"))
    if line is not None and shutil.which(line.program[0], path=variables.get("PATH", "")) is None:
        yield Finding("silent", f"the status line starts {line.program_text}, which does not exist", "user")
    if host_settings.setting(settings, "disableAllHooks") is True:
        yield Finding("off", f"`disableAllHooks` is true in {own.hooks}", mend="set it to false there")
    yield from MANAGED.findings(variables)


INSTALLER = Installer(
    WIRING,
    files_of,
    plan,
    removal,
    our_hooks=lambda text: host_settings.our_hooks(text, WIRING.host),
    servers=JSON.servers,
    handlers=_handlers,
    has_plugin=_has_plugin,
    findings=_findings,
)
