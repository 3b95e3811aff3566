"""install claude-code: hooks and the MCP server in Claude Code's settings, and a few lines in CLAUDE.md.

The status line is written only on request, and only if there is none yet.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from palazzo.features.hosts import hook_wiring, host_files, host_settings, install_host
from palazzo.features.hosts.edited_files import Edit
from palazzo.features.hosts.hook_wiring import CLAUDE_CODE, PROGRAM
from palazzo.features.hosts.install import InstallRequest, Plan
from palazzo.features.hosts.install_host import JSON
from palazzo.features.hosts.own_program import own_program

if TYPE_CHECKING:
    from palazzo.operations.context import Context

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
_APPROVE = "Claude Code asks each person once whether it may start the project's MCP server."


def plan(context: Context, request: InstallRequest) -> Plan:
    """Return the edits to make; UsageError if Claude Code is not found here."""
    project = install_host.scope(context, request.project, request.user)
    files = host_files.claude_code(context.variables, project)
    if project is None:
        host_files.check_present(CLAUDE_CODE.title, "claude", files, context.variables)
    hooks, *others_of_ours = install_host.build_install_edits(context, CLAUDE_CODE, files, JSON, project is not None)
    edits = [_with_status_line(context, hooks, project is not None, request.status_line), *others_of_ours]
    predecessors = install_host.predecessors_in(files, JSON)
    notes = [*install_host.remarks(context, project is not None), *([_APPROVE] if project else []), _NEXT]
    if host_settings.has_plugin(host_files.text_of(files.hooks)):
        notes.insert(0, _PLUGIN)
    if request.status_line and host_settings.has_other_status_line(host_files.text_of(files.hooks)):
        notes.insert(0, _OTHER_LINE)
    final_edits = install_host.add_cleanup(edits, JSON) if request.clean else edits
    return Plan((), "\n".join(notes), tuple(final_edits), tuple(predecessors))


def removal(context: Context, project: bool, user: bool) -> list[Edit]:
    """Return the edits that remove everything again."""
    files = host_files.claude_code(context.variables, install_host.scope(context, project, user))
    hooks, *remaining_edits = install_host.build_uninstall_edits(CLAUDE_CODE, files, JSON)
    return [replace(hooks, change=install_host.both(host_settings.without_status_line, hooks.change)), *remaining_edits]


def _with_status_line(context: Context, hooks: Edit, shared: bool, is_new: bool) -> Edit:
    """Return the edit of the settings, with the status line: ours is updated, another program's stays."""
    program = PROGRAM if shared else own_program(context.variables)
    more = [] if shared else install_host.palace_option(context)
    entry = hook_wiring.status_line(program, more, "nt" if sys.platform == "win32" else "posix")

    def add(text: str | None) -> str | None:
        return None if text is None else host_settings.with_status_line(text, entry, is_new)

    return replace(hooks, change=install_host.both(hooks.change, add))
