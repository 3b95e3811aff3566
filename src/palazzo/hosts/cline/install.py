"""install cline: the MCP server in Cline's settings, a script for each hook, and instructions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from palazzo.hosts import host_files
from palazzo.hosts.cline.hook_scripts import FORMAT
from palazzo.hosts.cline.host import HOST
from palazzo.hosts.cline.server import SERVERS
from palazzo.hosts.cline.wiring import WIRING
from palazzo.hosts.hook_wiring import command_line
from palazzo.hosts.host_files import HostFiles
from palazzo.hosts.installer import Finding
from palazzo.hosts.server_installer import Places, server_installer

_RULES, _HOOKS = "$DOCUMENTS/Cline/Rules/palazzo.md", "$DOCUMENTS/Cline/Hooks"
_OLDER = Places(
    directory="$APPLICATIONS/Code/User/globalStorage/saoudrizwan.claude-dev",
    servers="settings/cline_mcp_settings.json",
    instructions=_RULES,
    hooks=_HOOKS,
)
_PLACES = Places(
    directory="~/.cline",
    variable="CLINE_DIR",
    servers="data/settings/cline_mcp_settings.json",
    instructions=_RULES,
    hooks=_HOOKS,
    older=_OLDER,
)


def _findings(variables: Mapping[str, str], own: HostFiles, project: HostFiles) -> Iterator[Finding]:
    for hook in WIRING.hooks:
        text = host_files.text_of(own.hooks / hook.name)
        if text and not FORMAT.our_hooks(text, HOST.name):
            command = command_line(HOST.name, hook.event)
            detail = f"{own.hooks / hook.name} is a hook of yours, and Cline runs one for each event"
            yield Finding("incomplete", detail, mend=f"start '{command}' from it, if you want both")


INSTALLER = server_installer(HOST, SERVERS, _PLACES, WIRING, FORMAT, _findings)
