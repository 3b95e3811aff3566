"""Cline's settings for an MCP server.

Version 4 moved them, and wrote what it found in its own form, with the command in an object `transport`. It reads both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from palazzo.hosts import host_settings
from palazzo.hosts.install_host import Format
from palazzo.hosts.json_servers import JsonServers
from palazzo.hosts.server_settings import NAME, ServerSettings
from palazzo.text import json_edit

_PLAIN = JsonServers()


class ClineServers:
    """The MCP servers in Cline's settings."""

    form = _PLAIN.form

    @property
    def format(self) -> Format:
        """Return the functions that change such settings."""
        return Format(_with_server, _without_servers, self.servers)

    def entry(self, program: str, arguments: Sequence[str]) -> dict[str, Any]:
        """Return the entry of a server that is started with a command line."""
        return _PLAIN.entry(program, arguments)

    def servers(self, text: str) -> list[tuple[str, Any]]:
        """Return the name of each server, and its entry as a command and its arguments."""
        return [(name, _as_others_write_it(entry)) for _, name, entry in host_settings.servers(text)]

    def is_ours(self, name: str, entry: Any) -> bool:
        """Return whether a server of the settings is the one that `install` writes."""
        return host_settings.is_our_server(name, entry)


def _with_server(text: str | None, new_entry: dict[str, Any]) -> str:
    """Return the settings with the server; an entry in version 4's form keeps it."""
    for trail, name, entry in host_settings.servers(text) if text is not None else ():
        if text is not None and name == NAME and isinstance(entry, dict) and isinstance(entry.get("transport"), dict):
            new_transport = host_settings.update_server(entry["transport"], new_entry)
            if new_transport == entry["transport"]:
                return text
            return json_edit.replace_value(text, trail, {**entry, "transport": new_transport})
    return host_settings.with_server(text, new_entry)


def _without_servers(text: str | None, predicate: Callable[[str, Any], bool]) -> str | None:
    return host_settings.without_servers(text, lambda name, entry: predicate(name, _as_others_write_it(entry)))


def _as_others_write_it(entry: Any) -> Any:
    transport = entry.get("transport") if isinstance(entry, dict) else None
    return {**entry, **transport} if isinstance(transport, dict) else entry


SERVERS = ClineServers()
SERVER = ServerSettings(
    file="~/.cline/data/settings/cline_mcp_settings.json (Cline: MCP Servers, Configure)",
    has_shell=False,
    form=SERVERS.form,
)
