"""Palazzo's entries in the texts of hosts' settings: add, update, find and remove them.

Every function takes the text of a file (None: the file does not exist) and returns the new text (None: the file must
not exist). ValueError says in a few words why a text cannot be changed. Everything that is not Palazzo's stays
unchanged and in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from palazzo.frozen_class import frozen
from palazzo.hosts import entry_matcher
from palazzo.hosts.entry_matcher import Ours
from palazzo.hosts.hook_wiring import SERVER, HostHooks
from palazzo.text import appended_block, json_edit
from palazzo.text.outlines import closed_fences

_SERVERS = "mcpServers"
_STATUS_LINE, _PLUGINS = "statusLine", "enabledPlugins"
_BEGIN, _END = "<!-- palazzo:begin", "<!-- palazzo:end -->"


# --- hooks, in JSON ----------------------------------------------------------------------------------------


@frozen
class Handler:
    """One command under an event, with its position in the document; `value` is its value in the settings.

    `is_read` says whether the host reads it: if a key occurs twice, the host uses the last one.
    """

    event: str
    group: tuple[int, ...]
    trail: tuple[int, ...]
    value: Any
    is_read: bool


def handlers(text: str, has_comments: bool = False) -> Iterator[Handler]:
    """Yield every handler of the settings' hooks, in order. Entries of another shape are skipped."""
    root = read_object(text, has_comments)
    last = root.last("hooks")
    for h, hooks in enumerate(root.parts):
        if hooks.key != "hooks":
            continue
        for e, event in enumerate(hooks.value.parts):
            read = last is not None and last[0] == h and hooks.value.last(event.key or "") == (e, event.value)
            for g, group in enumerate(event.value.parts if event.value.kind == "array" else ()):
                for m, member in enumerate(group.value.parts):
                    if member.key == "hooks" and member.value.kind == "array":
                        for n, handler_node in enumerate(member.value.parts):
                            trail = (h, e, g, m, n)
                            value = handler_node.value.content
                            yield Handler(event.key or "", trail[:3], trail, value, read)


def our_hooks(text: str, host: str, has_comments: bool = False) -> list[tuple[Handler, Ours]]:
    """Return the handlers that start our hooks."""
    return [
        (handler, ours)
        for handler in handlers(text, has_comments)
        if (ours := entry_matcher.hook(handler.value, host)) is not None
    ]


def with_hooks(text: str | None, groups: Mapping[str, Any], wiring: HostHooks) -> str:
    """Return the settings with these groups, one for each event, and no other groups of ours."""
    if text is None:
        return json_edit.new({"hooks": {event: [group] for event, group in groups.items()}})
    read_object(text, wiring.has_comments)
    for event, group in groups.items():
        text = _with_group(text, event, group, wiring.host)
    while strays := [
        handler
        for handler, _ in our_hooks(text, wiring.host, True)
        if handler.event not in groups or not handler.is_read
    ]:
        text = _remove_handler(text, strays[-1], lambda value: entry_matcher.hook(value, wiring.host) is not None) or ""
    return text


def without_hooks(text: str | None, predicate: Callable[[Any], bool], has_comments: bool = False) -> str | None:
    """Return the settings without the handlers that `predicate` selects, and without the containers made for them."""
    while text is not None and (
        matches := [handler for handler in handlers(text, has_comments) if predicate(handler.value)]
    ):
        text = _remove_handler(text, matches[-1], predicate)
    return text


def _with_group(text: str, event: str, group: Any, host: str) -> str:
    """Write one group of ours under an event: update an existing one in place, and remove others of ours."""

    def is_ours(value: Any) -> bool:
        return entry_matcher.hook(value, host) is not None

    ours = [handler for handler, _ in our_hooks(text, host, True) if handler.event == event and handler.is_read]
    whole = next((handler.group for handler in ours if _is_whole(text, handler.group, is_ours)), None)
    for handler in reversed(ours):
        if handler.group != whole:
            text = _remove_handler(text, handler, is_ours) or ""
    if whole is None:
        return _with_new_group(text, event, group)
    old_group = json_edit.at(json_edit.read(text, has_comments=True), whole).content
    return text if old_group == group else json_edit.replace_value(text, whole, group)


def _with_new_group(text: str, event: str, group: Any) -> str:
    root = read_object(text, has_comments=True)
    hooks = root.last("hooks")
    if hooks is None:
        return json_edit.added(text, (), {event: [group]}, "hooks")
    if hooks[1].kind != "object":
        raise ValueError("its `hooks` is not an object")
    groups = hooks[1].last(event)
    if groups is None:
        return json_edit.added(text, (hooks[0],), [group], event)
    if groups[1].kind != "array":
        raise ValueError(f"its `hooks.{event}` is not a list")
    return json_edit.added(text, (hooks[0], groups[0]), group)


def _is_whole(text: str, group: tuple[int, ...], predicate: Callable[[Any], bool]) -> bool:
    """Return whether a group contains only unwanted handlers."""
    return all(predicate(handler.value) for handler in handlers(text, True) if handler.group == group)


def _remove_handler(text: str, handler: Handler, predicate: Callable[[Any], bool]) -> str | None:
    return json_edit.remove_part(text, handler.group if _is_whole(text, handler.group, predicate) else handler.trail)


def with_status_line(text: str, new_entry: Mapping[str, Any], is_new: bool) -> str:
    """Return the settings with our status line updated; if there is no status line, add ours if it `is_new`."""
    member = read_object(text).last(_STATUS_LINE)
    if member is None:
        return json_edit.added(text, (), new_entry, _STATUS_LINE) if is_new else text
    old_entry = member[1].content
    if entry_matcher.status_line(old_entry) is None or {**old_entry, **new_entry} == old_entry:
        return text
    return json_edit.replace_value(text, (member[0],), {**old_entry, **new_entry})


def without_status_line(text: str | None) -> str | None:
    """Return the settings without our status line."""
    while text is not None and (indices := [n for n, value in _status_lines(text) if entry_matcher.status_line(value)]):
        text = json_edit.remove_part(text, (indices[-1],))
    return text


def has_other_status_line(text: str) -> bool:
    """Return whether the settings have a status line of another program."""
    value = setting(text, _STATUS_LINE)
    return value is not None and entry_matcher.status_line(value) is None


def _status_lines(text: str) -> Iterator[tuple[int, Any]]:
    for n, part in enumerate(read_object(text).parts):
        if part.key == _STATUS_LINE:
            yield n, part.value.content


def setting(text: str, name: str, has_comments: bool = False) -> Any:
    """Return a top-level setting; None if it is missing or cannot be read."""
    try:
        member = read_object(text, has_comments).last(name)
    except ValueError:
        return None
    return None if member is None else member[1].content


# --- plugins, in Claude Code's settings --------------------------------------------------------------------


def has_plugin(text: str) -> bool:
    """Return whether Claude Code's settings enable the plugin that provides the same hooks."""
    try:
        return any(name.split("@")[0] == SERVER for _, name in enabled_plugins(text))
    except ValueError:
        return False


def enabled_plugins(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the position and name (`NAME@MARKETPLACE`) of each plugin that the settings enable."""
    plugins = read_object(text).last(_PLUGINS)
    if plugins is None:
        return
    for n, part in enumerate(plugins[1].parts):
        if part.key is not None and part.value.content:  # a list of versions also enables it
            yield (plugins[0], n), part.key


def with_disabled_plugins(text: str | None, predicate: Callable[[str], bool]) -> str | None:
    """Return the settings with the plugins that `predicate` selects set to `false`, as the host disables one.

    Without an entry, it would be the plugin that decides whether it is enabled.
    """
    for trail, name in [] if text is None else list(enabled_plugins(text)):
        if predicate(name):
            text = json_edit.replace_value(text or "", trail, False)  # positions stay
    return text


# --- the MCP server, in JSON -------------------------------------------------------------------------------


def with_server(text: str | None, new_entry: Mapping[str, Any], key: str = _SERVERS, has_comments: bool = False) -> str:
    """Return the settings with the server below `key`; an entry of ours keeps what else a person set in it."""
    if text is None:
        return json_edit.new({key: {SERVER: new_entry}})
    servers = read_object(text, has_comments).last(key)
    if servers is None:
        return json_edit.added(text, (), {SERVER: new_entry}, key)
    if servers[1].kind != "object":
        raise ValueError(f"its `{key}` is not an object")
    member = servers[1].last(SERVER)
    if member is None:
        return json_edit.added(text, (servers[0],), new_entry, SERVER)
    old_entry = member[1].content
    entry = update_server(old_entry, new_entry)
    return text if old_entry == entry else json_edit.replace_value(text, (servers[0], member[0]), entry)


def without_servers(
    text: str | None, predicate: Callable[[str, Any], bool], key: str = _SERVERS, has_comments: bool = False
) -> str | None:
    """Return the settings without the servers that `predicate` selects by name and entry."""
    while text is not None and (
        trails := [trail for trail, name, entry in servers(text, key, has_comments) if predicate(name, entry)]
    ):
        text = json_edit.remove_part(text, trails[-1])
    return text


def is_our_server(name: str, entry: Any) -> bool:
    """Return whether an MCP server of that name is the one that `install` writes."""
    return name == SERVER and entry_matcher.server(entry) is not None


def servers(text: str, key: str = _SERVERS, has_comments: bool = False) -> Iterator[tuple[tuple[int, int], str, Any]]:
    """Yield the position, name and entry of each MCP server in the settings."""
    for n, part in enumerate(read_object(text, has_comments).parts):
        if part.key == key and part.value.kind == "object":
            for m, member in enumerate(part.value.parts):
                yield (n, m), member.key or "", member.value.content


def servers_everywhere(text: str) -> Iterator[tuple[tuple[int, ...], str, Any]]:
    """Yield the MCP servers of the settings, and those that Claude Code keeps for one project each (`projects`)."""
    yield from servers(text)
    for n, part in enumerate(read_object(text).parts):
        for p, project in enumerate(part.value.parts if part.key == "projects" else ()):
            for k, member in enumerate(project.value.parts):
                if member.key == _SERVERS and member.value.kind == "object":
                    for m, server in enumerate(member.value.parts):
                        yield (n, p, k, m), server.key or "", server.value.content


def without_servers_everywhere(text: str | None, predicate: Callable[[str, Any], bool]) -> str | None:
    """Return the settings without these servers, also without those of single projects."""
    while text is not None and (
        trails := [trail for trail, name, entry in servers_everywhere(text) if predicate(name, entry)]
    ):
        text = json_edit.remove_part(text, max(trails))
    return text


def update_server(old_entry: Any, new_entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return our entry with the wanted program and palace; ValueError if the entry is another program's."""
    ours = entry_matcher.server(old_entry)
    if ours is None:
        raise ValueError(f"its MCP server '{SERVER}' starts another program")
    missing = {key: value for key, value in new_entry.items() if key not in old_entry}
    return {
        **old_entry,
        **missing,
        "command": new_entry["command"],
        "args": [*new_entry["args"], *read_user_options(ours)],
    }


def read_user_options(ours: Ours) -> Iterator[str]:
    """Yield the options that a person chose, without the palace, which is set again."""
    for name, value in zip(ours.options[::2], ours.options[1::2], strict=True):
        if name != "--palace":
            yield from (name, value)


def read_object(text: str, has_comments: bool = False) -> json_edit.Node:
    """Return the settings as an object; `has_comments` says whether the host reads comments."""
    if not (json_edit.plain(text) if has_comments else text).strip():
        raise ValueError("it is empty, which is not valid JSON")
    try:
        root = json_edit.read(text, has_comments)
    except ValueError as error:
        raise ValueError(f"it is not valid JSON ({error})") from None
    if root.kind != "object":
        raise ValueError("it is not a JSON object")
    return root


# --- what an agent is told, in Markdown --------------------------------------------------------------------


def with_block(text: str | None, host: str, body: str) -> str:
    """Return the text with a block between our markers at its end; an existing block is replaced in place."""
    lines = [f"{_BEGIN} {host} (written by 'palazzo install {host}') -->", *body.splitlines(), _END]
    if text is None:
        return appended_block.new(lines)
    span = _block(text, host)
    if span is None:
        return appended_block.append_block(text, lines)
    return text[: span[0]] + appended_block.newline_of(text[span[0] : span[1]]).join(lines) + text[span[1] :]


def without_block(text: str | None, host: str) -> str | None:
    """Return the text without our block."""
    while text is not None and (span := _block(text, host)) is not None:
        text = appended_block.remove_block(text, *span)
    return text


def _block(text: str, host: str) -> tuple[int, int] | None:
    """Return the start and end of our block; a block in fenced code is an example and does not count."""
    begins = list(re.finditer(rf"(?<![^\r\n]){re.escape(_BEGIN)} {re.escape(host)}(?![\w-])", text))
    fences = closed_fences(text) if begins else []
    begin = next((match for match in begins if not any(start <= match.start() < end for start, end in fences)), None)
    if begin is None:
        return None
    end = text.find(_END, begin.end())
    if end < 0 or text.find(_BEGIN, begin.end(), end) >= 0:
        raise ValueError(f"the line '{_BEGIN} {host}' is not followed by a line '{_END}'")
    return begin.start(), end + len(_END)
