"""The seam between a host and the engine: its payloads in, its answers out. Adapters translate and decide nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from palazzo.injection.hook_events import Beginning, Event, HookEvent, Reaction, ToolKind

Payload = Mapping[str, Any]
Answer = dict[str, Any]


class HostAdapter(Protocol):
    """One host."""

    @property
    def name(self) -> str:
        """The host's name, as people type it."""
        ...

    @property
    def events(self) -> Mapping[str, Event]:
        """Its own names of events, and ours, to ours."""
        ...

    @property
    def shows(self) -> Collection[Event]:
        """Events after which the host shows the person a line (`tell`)."""
        ...

    @property
    def holds_back(self) -> bool:
        """Whether a hook can hold a compaction back."""
        ...

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened; None where it is nothing that anybody needs to know."""
        ...

    def write(self, event: Event, reaction: Reaction) -> Answer:
        """Return what the host reads as `reaction`; an empty answer where it cannot be told there."""
        ...


def text(payload: Payload, *names: str) -> str:
    """Return the first of these fields that is a text; empty where none is."""
    values = (payload.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and value), "")


def mapping(payload: Payload, *names: str) -> Payload:
    """Return the first of these fields that is an object; empty where none is."""
    values = (payload.get(name) for name in names)
    return next((value for value in values if isinstance(value, Mapping)), {})


def beginning(payload: Payload) -> Beginning:
    """Return how the session begins, by the host's own word for it; a word that is not known is a new session."""
    return _BEGINNINGS.get(text(payload, "source"), "startup")


def words(value: Any) -> str:
    """Return what a tool answered as text, whatever shape the host gives it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(words, value)))
    if isinstance(value, Mapping):
        parts = (value.get(name) for name in _TEXT_FIELDS if value.get(name))
        return "\n".join(filter(None, map(words, parts)))
    return ""


def kind(tool: str) -> ToolKind:
    """Return what sort of tool it is, by the names that hosts give to their own."""
    return _KINDS.get(tool.casefold().replace("_", ""), "other")


_BEGINNINGS: dict[str, Beginning] = {
    **dict.fromkeys(("startup", "new"), "startup"),
    **dict.fromkeys(("resume", "reload"), "resume"),
    "clear": "clear",
    "compact": "compact",
    "fork": "fork",
}
_TEXT_FIELDS = (
    "text",
    "stdout",
    "stderr",
    "output",
    "content",
    "file",
    "llmContent",
    "textResultForLlm",
    "result",
    "message",
)
_KINDS: dict[str, ToolKind] = {
    **dict.fromkeys(("read", "readfile", "view", "readmanyfiles"), "read"),
    **dict.fromkeys(("bash", "shell", "runshellcommand", "execcommand", "powershell"), "command"),
    **dict.fromkeys(("grep", "glob", "find", "ls", "searchfilecontent", "list"), "search"),
    **dict.fromkeys(("agent", "task", "subagent"), "agent"),
    **dict.fromkeys(
        ("edit", "write", "multiedit", "notebookedit", "applypatch", "writefile", "replace", "patch"), "edit"
    ),
    **dict.fromkeys(("todowrite", "writetodos", "updateplan"), "todos"),
}
