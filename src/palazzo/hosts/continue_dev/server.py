"""Continue's settings for an MCP server: a file of JSON, or an item of the list in `config.yaml`.

mcpServers:
  - {name: palazzo, command: palazzo, args: [mcp]}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import yaml

from palazzo.hosts import host_settings
from palazzo.hosts.install_host import Format
from palazzo.hosts.json_servers import JsonServers
from palazzo.hosts.server_settings import NAME, ServerSettings
from palazzo.text import yaml_list

_KEY = "mcpServers"
_WIDTH = 1_000_000
"""The most characters of a line that is written: an item stays on one line."""


class ListedServers:
    """The MCP servers in `config.yaml`."""

    @property
    def format(self) -> Format:
        """Return the functions that change such settings."""
        return Format(_with_server, _without_servers, self.servers)

    def entry(self, program: str, arguments: Sequence[str]) -> dict[str, Any]:
        """Return the entry of a server that is started with a command line."""
        return {"name": NAME, "command": program, "args": [*arguments]}

    def form(self, program: str, arguments: Sequence[str]) -> str:
        """Return settings that contain only our server."""
        return yaml_list.with_item(None, _KEY, _item(self.entry(program, arguments))).rstrip("\n")

    def servers(self, text: str) -> list[tuple[str, Any]]:
        """Return the name and entry of each server."""
        entries = [entry for entry in yaml_list.items(text, _KEY) if isinstance(entry, dict)]
        return [(str(entry.get("name") or ""), entry) for entry in entries]

    def is_ours(self, name: str, entry: Any) -> bool:
        """Return whether a server of the settings is the one that `install` writes."""
        return host_settings.is_our_server(name, entry)


def _with_server(text: str | None, new_entry: Mapping[str, Any]) -> str:
    """Return the settings with the server; an entry of ours keeps what else a person set in it."""
    old_entry = dict(LISTED_SERVERS.servers(text)).get(NAME) if text is not None else None
    if text is None or old_entry is None:
        return yaml_list.with_item(text, _KEY, _item(new_entry))
    entry = host_settings.update_server(old_entry, new_entry)
    if entry == old_entry:
        return text
    return yaml_list.with_item(yaml_list.without_item(text, _KEY, old_entry), _KEY, _item(entry))


def _without_servers(text: str | None, predicate: Callable[[str, Any], bool]) -> str | None:
    while text is not None and (
        entries := [entry for name, entry in LISTED_SERVERS.servers(text) if predicate(name, entry)]
    ):
        text = yaml_list.without_item(text, _KEY, entries[0])
    return text


def _item(entry: Mapping[str, Any]) -> str:
    return str(
        yaml.safe_dump(dict(entry), default_flow_style=True, sort_keys=False, allow_unicode=True, width=_WIDTH)
    ).strip()


SERVERS = JsonServers(_KEY)
LISTED_SERVERS = ListedServers()
SERVER = ServerSettings(
    file="~/.continue/mcpServers/palazzo.json",
    has_shell=False,
    form=SERVERS.form,
)
