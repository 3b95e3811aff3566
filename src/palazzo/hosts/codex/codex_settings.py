"""Palazzo's entries in Codex's `config.toml`: add, update, find and remove them.

As in `host_settings`, functions take the text of a file (None: the file does not exist) and return the new text (None:
the file must not exist). ValueError says in a few words why a text cannot be changed.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from palazzo.hosts.hook_wiring import SERVER
from palazzo.hosts.host_settings import update_server
from palazzo.text import appended_block, toml_edit

_SERVER = ("mcp_servers", SERVER)
_REMARK = "# Written by 'palazzo install codex'; 'palazzo uninstall codex' takes it away."


def with_server(text: str | None, new_entry: Mapping[str, Any]) -> str:
    """Return `config.toml` with the server's table after all others; an existing one of ours is changed in place."""
    block = [_REMARK, *toml_edit.lines(_SERVER, new_entry)]
    if text is None:
        return appended_block.new(block)
    document = _parse(text)
    old_entry = toml_edit.below(document, _SERVER)
    if old_entry is None:
        return _with_block(text, block, toml_edit.put(document, _SERVER, dict(new_entry)))
    if all(table.name != _SERVER for table in toml_edit.tables(text)):
        raise ValueError(f"its `mcp_servers.{SERVER}` is not a separate table; add [mcp_servers.{SERVER}] by hand")
    for key, value in update_server(old_entry, new_entry).items():
        if key not in old_entry or old_entry[key] != value:
            text = toml_edit.with_value(text, (*_SERVER, key), value)
    return text


def without_servers(text: str | None, predicate: Callable[[str, Any], bool]) -> str | None:
    """Return `config.toml` without the tables and subtables of the unwanted servers."""
    if text is None:
        return None
    names = {name for name, entry in servers(text) if predicate(name, entry)}
    text = _without_tables(text, lambda name: name[:1] == ("mcp_servers",) and len(name) > 1 and name[1] in names)
    for name, _ in servers(text or ""):
        if name in names:
            raise ValueError(f"its `mcp_servers.{name}` is not a separate table; remove it by hand")
    return text


def servers(text: str) -> list[tuple[str, Any]]:
    """Return the name and entry of each MCP server of `config.toml`."""
    server_tables = _parse(text).get("mcp_servers")
    return list(server_tables.items()) if isinstance(server_tables, dict) else []


def without_trust(text: str | None, keys: Collection[str]) -> str | None:
    """Return Codex's `config.toml` without its trust in these hooks, and without the trust table if it is empty."""
    text = _without_tables(text, lambda name: name[:2] == ("hooks", "state") and len(name) > 2 and name[2] in keys)
    if text is not None and keys and toml_edit.below(_parse(text), ("hooks", "state")) == {}:
        text = _without_tables(text, lambda name: name == ("hooks", "state"))
    return text


def has_plugin(text: str) -> bool:
    """Return whether Codex's `config.toml` has the plugin that provides the same hooks, and does not disable it."""
    try:
        plugins = _parse(text).get("plugins")
    except ValueError:
        return False
    return isinstance(plugins, dict) and any(
        name.split("@")[0] == SERVER and not (isinstance(options, dict) and options.get("enabled") is False)
        for name, options in plugins.items()
    )


def _without_tables(text: str | None, predicate: Callable[[tuple[str, ...]], bool]) -> str | None:
    """Return a TOML text without the tables of these names, and without our comment above a table."""
    while text is not None:
        tables = [table for table in toml_edit.tables(text) if predicate(table.name)]
        if not tables:
            break
        start = tables[-1].start
        remark = re.compile(rf"{re.escape(_REMARK)}(?:\r\n|\n)\Z").search(text, 0, start)
        text = appended_block.remove_block(text, remark.start() if remark else start, tables[-1].end)
    return text


def _with_block(text: str, block: list[str], expected: Mapping[str, Any]) -> str:
    """Return the text with the block at its end; some shapes of TOML cannot be extended."""
    more = appended_block.append_block(text, block)
    with contextlib.suppress(ValueError):
        if toml_edit.parse(more) == expected:
            return more
    raise ValueError(f"its `mcp_servers` has a shape that cannot be extended; add [mcp_servers.{SERVER}] there by hand")


def _parse(text: str) -> dict[str, Any]:
    try:
        return toml_edit.parse(text)
    except ValueError as error:
        raise ValueError(f"it is not valid TOML ({error})") from None
