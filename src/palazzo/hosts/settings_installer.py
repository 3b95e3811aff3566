"""The installer of a host with Claude Code's hooks and MCP servers in JSON settings, and a file of instructions.

Such a host is its module `wiring`, its `paths`, its `server`, and what this module is given in its `install`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from palazzo.frozen_class import frozen
from palazzo.hosts import host_files, host_settings, install_host
from palazzo.hosts.edited_files import Edit
from palazzo.hosts.entry_matcher import Ours
from palazzo.hosts.hook_wiring import HostHooks
from palazzo.hosts.host_files import HostFiles
from palazzo.hosts.host_settings import Handler
from palazzo.hosts.install_plan import InstallOptions, InstallPlace, Plan
from palazzo.hosts.installer import Findings, Installer
from palazzo.hosts.json_servers import JsonServers


@frozen
class SettingsHost:
    """A host with one file of settings, which may have comments, or with another one for MCP servers.

    `next_step` tells the person what to do then.
    """

    wiring: HostHooks
    program: str
    servers: JsonServers
    files_of: Callable[[Mapping[str, str], Path | None], HostFiles]
    next_step: str

    def plan(self, context: InstallPlace, request: InstallOptions) -> Plan:
        """Return the edits to make; UsageError if the host is not found here."""
        project = install_host.scope(context, request.project, request.user)
        files = self.files_of(context.variables, project)
        if project is None:
            host_files.check_present(self.wiring.title, self.program, files, context.variables)
        edits = install_host.build_install_edits(context, self.wiring, files, self.servers.format, project is not None)
        predecessors = install_host.predecessors_in(files, self.servers.format)
        notes = [*install_host.remarks(context, project is not None), self.next_step]
        final_edits = install_host.add_cleanup(edits, self.servers.format) if request.clean else edits
        return Plan((), "\n".join(notes), tuple(_merge(final_edits)), tuple(predecessors))

    def removal(self, context: InstallPlace, project: bool, user: bool) -> list[Edit]:
        """Return the edits that remove everything again."""
        files = self.files_of(context.variables, install_host.scope(context, project, user))
        return _merge(install_host.build_uninstall_edits(self.wiring, files, self.servers.format))

    def our_hooks(self, text: str) -> list[tuple[Handler, Ours]]:
        """Return the hooks that start Palazzo."""
        return host_settings.our_hooks(text, self.wiring.host, has_comments=True)


def settings_installer(host: SettingsHost, findings: Findings) -> Installer:
    """Return the installer of such a host."""
    return Installer(
        host.wiring,
        host.files_of,
        host.plan,
        host.removal,
        our_hooks=host.our_hooks,
        servers=host.servers.servers,
        handlers=_handlers,
        findings=findings,
    )


def _merge(edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits with one for both parts of the settings, so that the file is written and copied once."""
    hooks, server, *other_edits = edits
    if hooks.path != server.path:
        return [*edits]
    change = install_host.both(hooks.change, server.change)
    return [replace(hooks, what=f"{hooks.what}, {server.what}", change=change), *other_edits]


def _handlers(text: str) -> Sequence[Any]:
    return [handler.value for handler in host_settings.handlers(text, has_comments=True)]
