"""The interface between a host and the engine: payloads in, answers out. Adapters translate; they decide nothing."""

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
        """Map the host's names of events, and Palazzo's, to Palazzo's."""
        ...

    @property
    def shows(self) -> Collection[Event]:
        """Return the events after which the host shows the person a line (`tell`)."""
        ...

    @property
    def holds_back(self) -> bool:
        """Return whether a hook can delay a compaction."""
        ...

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened; None if the event does not matter."""
        ...

    def write(self, event: Event, reaction: Reaction) -> Answer:
        """Return `reaction` in the host's form; an empty answer if the host cannot show it for this event."""
        ...


def text(payload: Payload, *names: str) -> str:
    """Return the first of these fields that is a non-empty text; empty if there is none."""
    values = (payload.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and value), "")


def mapping(payload: Payload, *names: str) -> Payload:
    """Return the first of these fields that is an object; empty if there is none."""
    values = (payload.get(name) for name in names)
    return next((value for value in values if isinstance(value, Mapping)), {})


def beginning(payload: Payload) -> Beginning:
    """Return how the session begins, from the host's own word for it; an unknown word means a new session."""
    return _BEGINNINGS.get(text(payload, "source"), "startup")


def words(value: Any) -> str:
    """Return a tool's response as text, whatever shape the host gives it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(words, value)))
    if isinstance(value, Mapping):
        parts = (value.get(name) for name in _TEXT_FIELDS if value.get(name))
        return "\n".join(filter(None, map(words, parts)))
    return ""


def kind(tool: str) -> ToolKind:
    """Return what sort of tool it is, by the host's own name for it."""
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
    **dict.fromkeys(("read", "readfile", "readfiles", "view", "readmanyfiles"), "read"),
    **dict.fromkeys(
        ("bash", "shell", "runshellcommand", "execcommand", "powershell", "executecommand", "runcommands", "execute"),
        "command",
    ),
    **dict.fromkeys(
        ("grep", "glob", "find", "ls", "searchfilecontent", "list", "searchfiles", "searchcodebase"), "search"
    ),
    **dict.fromkeys(("agent", "task", "subagent"), "agent"),
    **dict.fromkeys(
        ("edit", "write", "multiedit", "notebookedit", "applypatch", "writefile", "replace", "patch"), "edit"
    ),
    **dict.fromkeys(("editor", "writetofile", "replaceinfile"), "edit"),
    **dict.fromkeys(("todowrite", "writetodos", "updateplan"), "todos"),
}
