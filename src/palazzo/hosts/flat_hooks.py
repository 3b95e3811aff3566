"""Hooks in a file of JSON in which each event has a list of commands, without groups. Cursor's has a version beside it:

    {"hooks": {"sessionStart": [{"command": "palazzo hook cursor session-start"}]}, "version": 1}

As in `host_settings`, functions take the text of a file (None: the file does not exist) and return the new text (None:
the file must not exist). ValueError says in a few words why a text cannot be changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from palazzo.hosts import entry_matcher
from palazzo.hosts.entry_matcher import Ours
from palazzo.hosts.hook_format import HookFormat
from palazzo.hosts.hook_wiring import HostHooks, command_line
from palazzo.hosts.host_settings import Handler, read_object
from palazzo.text import json_edit


def with_hooks(text: str | None, wiring: HostHooks, program: str, more: Sequence[str]) -> str:
    """Return the file with our hooks, one for each event, and no other hooks of ours."""
    entries = {
        hook.name: {"command": command_line(wiring.host, hook.event, program, more), **dict(wiring.entry_fields)}
        for hook in wiring.hooks
    }
    if text is None:
        version = {"version": wiring.file_version} if wiring.file_version else {}
        return json_edit.new({"hooks": {event: [entry] for event, entry in entries.items()}, **version})
    read_object(text)
    for event, entry in entries.items():
        text = _with_entry(text, event, entry, wiring.host)
    while strays := [handler for handler, _ in our_hooks(text, wiring.host) if handler.event not in entries]:
        text = json_edit.remove_part(text, strays[-1].trail) or ""
    return text


def without_hooks(text: str | None, host: str) -> str | None:
    """Return the file without our hooks; None if `with_hooks` created it and nothing else is in it."""
    if text is None or _is_created_by_us(text, host):
        return None
    while text is not None and (hooks := our_hooks(text, host)):
        text = json_edit.remove_part(text, hooks[-1][0].trail)
    return text


def our_hooks(text: str, host: str) -> list[tuple[Handler, Ours]]:
    """Return the hooks that start Palazzo."""
    return [
        (handler, launch)
        for handler in _handlers(text)
        if (launch := entry_matcher.hook(handler.value, host)) is not None
    ]


def _handlers(text: str) -> Iterator[Handler]:
    for h, hooks in enumerate(read_object(text).parts):
        for e, event in enumerate(hooks.value.parts if hooks.key == "hooks" else ()):
            for n, handler in enumerate(event.value.parts if event.value.kind == "array" else ()):
                yield Handler(event.key or "", (h, e), (h, e, n), handler.value.content, True)


def _with_entry(text: str, event: str, entry: dict[str, Any], host: str) -> str:
    ours = [handler for handler, _ in our_hooks(text, host) if handler.event == event]
    for handler in reversed(ours[1:]):
        text = json_edit.remove_part(text, handler.trail) or ""
    if ours:
        old_entry = ours[0].value
        entry = {**old_entry, **entry}
        return text if old_entry == entry else json_edit.replace_value(text, ours[0].trail, entry)
    hooks = read_object(text).last("hooks")
    if hooks is None:
        return json_edit.added(text, (), {event: [entry]}, "hooks")
    if hooks[1].kind != "object":
        raise ValueError("its `hooks` is not an object")
    handlers = hooks[1].last(event)
    if handlers is None:
        return json_edit.added(text, (hooks[0],), [entry], event)
    if handlers[1].kind != "array":
        raise ValueError(f"its `hooks.{event}` is not a list")
    return json_edit.added(text, (hooks[0], handlers[0]), entry)


def _is_created_by_us(text: str, host: str) -> bool:
    """Return whether the text is what `with_hooks` writes where there is no file."""
    root = read_object(text)
    if [part.key for part in root.parts] not in (["hooks"], ["hooks", "version"]):
        return False
    return len(our_hooks(text, host)) == len([*_handlers(text)]) > 0 and json_edit.new(root.content) == text


FORMAT = HookFormat(with_hooks, without_hooks, our_hooks)
