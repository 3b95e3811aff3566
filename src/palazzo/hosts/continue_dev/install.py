"""install continue: the MCP server in Continue's settings, and instructions.

The extensions of editors read the servers in `mcpServers/` and those that `config.yaml` lists. The program `cn` (npm:
`@continuedev/cli`, 1.5.47) reads only the latter, so the server is written there, unless there is no such file: `cn`
would take a new one for a configuration without models. `cn` reads `rules/` and writes sessions as the extensions do.
It has Claude Code's hooks in its code, and calls none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from palazzo.hosts.continue_dev.host import HOST
from palazzo.hosts.continue_dev.server import LISTED_SERVERS, SERVERS
from palazzo.hosts.edited_files import Edit
from palazzo.hosts.host_files import HostFiles
from palazzo.hosts.install_plan import InstallOptions, InstallPlace, Plan
from palazzo.hosts.installer import Installer
from palazzo.hosts.server_installer import Places, server_installer

_OWN_FILE = Places(
    directory="~/.continue",
    servers="mcpServers/palazzo.json",
    instructions="rules/palazzo.md",
    variable="CONTINUE_GLOBAL_DIR",
    note=(
        "Continue's program 'cn' starts only servers that config.yaml lists. Once you have that file, run "
        "'palazzo install continue' again."
    ),
)
_IN_OWN_FILE = server_installer(HOST, SERVERS, _OWN_FILE)
_IN_LIST = server_installer(HOST, LISTED_SERVERS, replace(_OWN_FILE, servers="config.yaml", note=""))


def files_of(variables: Mapping[str, str], project: Path | None = None) -> HostFiles:
    """Return Continue's files; a project has none that Palazzo writes."""
    return _choose(variables).files_of(variables, project)


def plan(context: InstallPlace, request: InstallOptions) -> Plan:
    """Return the edits to make; UsageError if Continue is not found here."""
    usual = _choose(context.variables).plan(context, request)
    return replace(usual, edits=(*usual.edits, *_own_file_removal(context, request.project, request.user)))


def removal(context: InstallPlace, project: bool, user: bool) -> list[Edit]:
    """Return the edits that remove everything again."""
    edits = _choose(context.variables).removal(context, project, user)
    return [*edits, *_own_file_removal(context, project, user)]


def _choose(variables: Mapping[str, str]) -> Installer:
    return _IN_LIST if _IN_LIST.files_of(variables, None).servers.is_file() else _IN_OWN_FILE


def _own_file_removal(context: InstallPlace, project: bool, user: bool) -> list[Edit]:
    """Return the edit that removes the server from its own file, where the list has it."""
    path = _IN_OWN_FILE.files_of(context.variables, None).servers
    if _choose(context.variables) is _IN_OWN_FILE or not path.exists():
        return []
    return [edit for edit in _IN_OWN_FILE.removal(context, project, user) if edit.path == path]


def servers(text: str) -> list[tuple[str, Any]]:
    """Return the name and entry of each server, of either file."""
    try:
        return SERVERS.servers(text)
    except ValueError:
        return LISTED_SERVERS.servers(text)


INSTALLER = replace(_IN_OWN_FILE, files_of=files_of, plan=plan, removal=removal, servers=servers)
