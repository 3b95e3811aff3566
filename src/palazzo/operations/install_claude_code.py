"""install claude-code: hooks and the MCP server in Claude Code's settings, and a few lines in CLAUDE.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.operations import host_files, host_settings, install_host
from palazzo.operations.edited_files import Edit
from palazzo.operations.install import InstallRequest, Plan
from palazzo.operations.install_host import JSON
from palazzo.operations.wiring import CLAUDE_CODE

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_NEXT = "Next: start Claude Code anew; a session that runs keeps the hooks it began with. 'palazzo doctor' tries them."
_PLUGIN = (
    "The plugin 'palazzo' is enabled as well: disable it (/plugin), or uninstall this; both tell everything twice."
)
_APPROVE = "Claude Code asks each person once whether the project's MCP server may be started."


def plan(context: Context, request: InstallRequest) -> Plan:
    """Say what is to be written; UsageError where Claude Code is not here."""
    project = install_host.scope(context, request.project, request.user)
    files = host_files.claude_code(context.variables, project)
    if project is None:
        host_files.check_present(CLAUDE_CODE.title, "claude", files, context.variables)
    edits = install_host.installing(context, CLAUDE_CODE, files, JSON, project is not None)
    others = install_host.predecessors_in(files, JSON)
    notes = [*install_host.remarks(context, project is not None), *([_APPROVE] if project else []), _NEXT]
    if host_settings.has_plugin(host_files.text_of(files.hooks)):
        notes.insert(0, _PLUGIN)
    chosen = install_host.cleaning(edits, JSON) if request.clean else edits
    return Plan((), "\n".join(notes), tuple(chosen), tuple(others))


def removal(context: Context, project: bool, user: bool) -> list[Edit]:
    """Say what takes all of that away."""
    files = host_files.claude_code(context.variables, install_host.scope(context, project, user))
    return install_host.uninstalling(CLAUDE_CODE, files, JSON)
