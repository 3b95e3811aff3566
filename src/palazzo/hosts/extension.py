"""Hosts whose hooks are a Palazzo extension (opencode, pi): the extension builds the payloads in Palazzo's own format.

    {"session", "cwd", "transcript", "source", "prompt", "trigger", "last_message", "asked",
     "agent", "agent_kind", "tool": {"name", "input", "output", "error"}}

The answer is `{"inject", "ask", "tell", "hold_back"}`; empty fields are left out. The extension passes it on in the way
that its host requires.
"""

from __future__ import annotations

from collections.abc import Mapping

from palazzo.frozen_class import frozen
from palazzo.hosts import adapter
from palazzo.hosts.adapter import Answer, Payload
from palazzo.injection.hook_events import EVENTS, Event, HookEvent, Reaction, ToolUse


@frozen
class Extension:
    """The adapter for the host of that name."""

    name: str
    events: Mapping[str, Event]
    shows: frozenset[Event]
    holds_back: bool

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened."""
        return HookEvent(
            host=self.name,
            event=event,
            session=adapter.text(payload, "session"),
            cwd=adapter.text(payload, "cwd"),
            transcript=adapter.text(payload, "transcript"),
            beginning=adapter.beginning(payload),
            prompt=adapter.text(payload, "prompt"),
            tool=_tool(adapter.mapping(payload, "tool")),
            agent=adapter.text(payload, "agent"),
            agent_kind=adapter.text(payload, "agent_kind"),
            last_message=adapter.text(payload, "last_message"),
            trigger=adapter.text(payload, "trigger"),
            is_continuation=payload.get("asked") is True,
        )

    def write(self, event: Event, reaction: Reaction) -> Answer:
        """Return the answer."""
        texts: Answer = {"inject": reaction.inject, "ask": reaction.ask, "tell": reaction.tell}
        answer = {name: words for name, words in texts.items() if words}
        return answer | ({"hold_back": True} if reaction.hold_back and event == "pre-compact" else {})


def extension(name: str, holds_back: bool) -> Extension:
    """Return the adapter of a host of that name."""
    return Extension(name, {event: event for event in EVENTS}, frozenset(EVENTS) - {"session-end"}, holds_back)


def _tool(payload: Payload) -> ToolUse | None:
    name = adapter.text(payload, "name")
    if not name:
        return None
    return ToolUse(
        name=name,
        kind=adapter.kind(name),
        arguments=adapter.mapping(payload, "input"),
        output=adapter.words(payload.get("output")),
        error=adapter.words(payload.get("error")),
    )
