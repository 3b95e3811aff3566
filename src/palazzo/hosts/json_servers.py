"""The MCP servers in a host's JSON settings, as data: for its installer, and for `palazzo mcp --print-config`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from palazzo.frozen_class import frozen
from palazzo.hosts import host_settings
from palazzo.hosts.install_host import Format
from palazzo.hosts.server_settings import NAME, document


class Servers(Protocol):
    """The MCP servers in a host's settings."""

    @property
    def format(self) -> Format:
        """Return the functions that change such settings."""
        ...

    def entry(self, program: str, arguments: Sequence[str]) -> dict[str, Any]:
        """Return the entry of a server that is started with a command line."""
        ...

    def servers(self, text: str) -> list[tuple[str, Any]]:
        """Return the name of each server, and its entry as a command and its arguments."""
        ...

    def is_ours(self, name: str, entry: Any) -> bool:
        """Return whether a server of the settings is the one that `install` writes."""
        ...


@frozen
class JsonServers:
    """Where the settings have servers, and what the host wants in an entry besides the command and its arguments.

    `key` is the member of the settings that maps names to servers. `has_comments` says that the host reads comments.
    """

    key: str = "mcpServers"
    has_comments: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)

    def entry(self, program: str, arguments: Sequence[str]) -> dict[str, Any]:
        """Return the entry of a server that is started with a command line."""
        return {**self.fields, "command": program, "args": [*arguments]}

    def form(self, program: str, arguments: Sequence[str]) -> str:
        """Return settings that contain only our server."""
        return document([self.key, NAME], self.entry(program, arguments))

    @property
    def format(self) -> Format:
        """Return the functions that change such settings."""
        return Format(
            lambda text, entry: host_settings.with_server(text, entry, self.key, self.has_comments),
            lambda text, predicate: host_settings.without_servers(text, predicate, self.key, self.has_comments),
            self.servers,
        )

    def servers(self, text: str) -> list[tuple[str, Any]]:
        """Return the name and entry of each server."""
        return [(name, entry) for _, name, entry in host_settings.servers(text, self.key, self.has_comments)]

    def is_ours(self, name: str, entry: Any) -> bool:
        """Return whether a server of the settings is the one that `install` writes."""
        return host_settings.is_our_server(name, entry)
