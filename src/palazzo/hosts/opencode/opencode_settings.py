"""Palazzo's MCP server in opencode's settings (JSON with comments): add, update, find and remove it.

    {"mcp": {"palazzo": {"type": "local", "command": ["palazzo", "mcp"], "enabled": true}}}

As in `host_settings`, functions take the text of a file (None: the file does not exist) and return the new text (None:
the file must not exist). ValueError says in a few words why a text cannot be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from palazzo.hosts import entry_matcher
from palazzo.hosts.entry_matcher import Ours
from palazzo.hosts.hook_wiring import SERVER
from palazzo.hosts.host_settings import read_object, read_user_options
from palazzo.text import json_edit

_SERVERS = "mcp"
_PATIENCE = 15_000
"""Milliseconds that opencode waits for the server's tools. Its default of five seconds is too short on a busy
machine.
"""


def entry(program: str, more: Sequence[str] = ()) -> dict[str, Any]:
    """Return the MCP server's entry for the settings."""
    return {"type": "local", "command": [program, "mcp", *more], "enabled": True, "timeout": _PATIENCE}


def with_server(text: str | None, new_entry: Mapping[str, Any]) -> str:
    """Return the settings with the server; an existing entry of ours keeps what else a person set in it."""
    if text is None:
        return json_edit.new({_SERVERS: {SERVER: new_entry}})
    servers = read_object(text, has_comments=True).last(_SERVERS)
    if servers is None:
        return json_edit.added(text, (), {SERVER: new_entry}, _SERVERS)
    if servers[1].kind != "object":
        raise ValueError(f"its `{_SERVERS}` is not an object")
    member = servers[1].last(SERVER)
    if member is None:
        return json_edit.added(text, (servers[0],), new_entry, SERVER)
    old_entry = member[1].content
    ours = parse_launch(old_entry)
    if ours is None:
        raise ValueError(f"its MCP server '{SERVER}' starts another program")
    command = [*new_entry["command"], *read_user_options(ours)]
    if old_entry["command"] == command:
        return text
    command_at = next(n for n, part in enumerate(member[1].parts) if part.key == "command")
    return json_edit.replace_value(text, (servers[0], member[0], command_at), command)


def without_servers(text: str | None, predicate: Callable[[str, Any], bool]) -> str | None:
    """Return the settings without the servers that `predicate` selects by name and entry."""
    while text is not None and (
        trails := [trail for trail, name, server_entry in _servers(text) if predicate(name, server_entry)]
    ):
        text = json_edit.remove_part(text, trails[-1])
    return text


def is_our_server(name: str, server_entry: Any) -> bool:
    """Return whether an MCP server of that name is the one that `install` writes."""
    return name == SERVER and parse_launch(server_entry) is not None


def entries(text: str) -> list[tuple[str, Any]]:
    """Return the name and entry of each MCP server."""
    return [(name, server_entry) for _, name, server_entry in _servers(text)]


def servers(text: str) -> list[tuple[str, Any]]:
    """Return each MCP server's name, and its entry in the form of other hosts: a command and its arguments."""
    return [(name, as_others_write_it(server_entry)) for _, name, server_entry in _servers(text)]


def as_others_write_it(server_entry: Any) -> dict[str, Any]:
    """Return an entry with the command separate from the arguments; empty if it starts no program."""
    command = server_entry.get("command") if isinstance(server_entry, dict) else None
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        return {}
    return {"command": command[0], "args": command[1:]}


def parse_launch(server_entry: Any) -> Ours | None:
    """Return what an entry starts if it is `palazzo mcp`; else None."""
    return entry_matcher.server(as_others_write_it(server_entry))


def _servers(text: str) -> Iterator[tuple[tuple[int, int], str, Any]]:
    for n, part in enumerate(read_object(text, has_comments=True).parts):
        if part.key == _SERVERS and part.value.kind == "object":
            for m, member in enumerate(part.value.parts):
                yield (n, m), member.key or "", member.value.content
