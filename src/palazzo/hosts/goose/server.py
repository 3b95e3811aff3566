"""Goose's settings for an MCP server: an extension of the kind `stdio`.

extensions:
  palazzo:
    enabled: true
    type: stdio
    name: palazzo
    cmd: palazzo
    args: [mcp]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from palazzo.hosts import entry_matcher
from palazzo.hosts.entry_matcher import Ours
from palazzo.hosts.host_settings import read_user_options
from palazzo.hosts.install_host import Format
from palazzo.hosts.server_settings import NAME, ServerSettings
from palazzo.text import yaml_edit

_SECTION = "extensions"
_SECONDS = 300
"""The time that Goose gives its own extensions."""


class GooseServers:
    """The MCP servers in Goose's settings."""

    @property
    def format(self) -> Format:
        """Return the functions that change such settings."""
        return Format(_with_server, _without_servers, self.servers)

    def entry(self, program: str, arguments: Sequence[str]) -> dict[str, Any]:
        """Return the entry of a server that is started with a command line."""
        launch = {"cmd": program, "args": [*arguments]}
        about = {"enabled": True, "type": "stdio", "name": NAME, "description": "Memory of past sessions"}
        return {**about, **launch, "timeout": _SECONDS}

    def form(self, program: str, arguments: Sequence[str]) -> str:
        """Return settings that contain only our server."""
        return yaml_edit.with_member(None, _SECTION, NAME, self.entry(program, arguments)).rstrip("\n")

    def servers(self, text: str) -> list[tuple[str, Any]]:
        """Return the name of each server, and its entry as a command and its arguments."""
        return [(name, _as_others_write_it(entry)) for name, entry in yaml_edit.members(text, _SECTION)]

    def is_ours(self, name: str, entry: Any) -> bool:
        """Return whether a server of the settings is the one that `install` writes."""
        return name == NAME and entry_matcher.server(entry) is not None


def _with_server(text: str | None, new_entry: dict[str, Any]) -> str:
    """Return the settings with the server; an entry of ours keeps what else a person set in it."""
    old_entry = dict(yaml_edit.members(text, _SECTION)).get(NAME) if text is not None else None
    if old_entry is None:
        return yaml_edit.with_member(text, _SECTION, NAME, new_entry)
    ours: Ours | None = entry_matcher.server(_as_others_write_it(old_entry))
    if ours is None:
        raise ValueError(f"its extension '{NAME}' starts another program")
    launch = {"cmd": new_entry["cmd"], "args": [*new_entry["args"], *read_user_options(ours)]}
    entry = {**new_entry, **old_entry, **launch}
    return (text or "") if entry == old_entry else yaml_edit.with_member(text, _SECTION, NAME, entry)


def _without_servers(text: str | None, predicate: Callable[[str, Any], bool]) -> str | None:
    while text is not None and (names := [name for name, entry in SERVERS.servers(text) if predicate(name, entry)]):
        text = yaml_edit.without_member(text, _SECTION, names[0])
    return text


def _as_others_write_it(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict) or not isinstance(entry.get("cmd"), str):
        return {}
    return {"command": entry["cmd"], "args": entry.get("args")}


SERVERS = GooseServers()
SERVER = ServerSettings(file="~/.config/goose/config.yaml", has_shell=True, form=SERVERS.form)
