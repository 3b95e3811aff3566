"""Copilot CLI's hooks, as observed in version 1.0.102.

Its payloads do not name their event. It reads `additionalContext` at the top level, and ignores the fields that Claude
Code requires.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from palazzo.hosts import adapter
from palazzo.hosts.adapter import Answer, Payload
from palazzo.injection.hook_events import Event, HookEvent, Reaction, ToolUse

_NAMES: dict[str, Event] = {
    "sessionStart": "session-start",
    "userPromptSubmitted": "prompt",
    "preToolUse": "pre-tool",
    "postToolUse": "post-tool",
    "postToolUseFailure": "tool-failure",
    "agentStop": "stop",
    "sessionEnd": "session-end",
}
_INJECTS = frozenset(["session-start", "prompt", "post-tool"])
_EXIT = re.compile(r"completed with exit code (?!0\b)-?\d+>\s*$")


class Copilot:
    """The adapter for Copilot CLI."""

    name = "copilot"
    events: Mapping[str, Event] = _NAMES | {event: event for event in _NAMES.values()}
    shows: frozenset[Event] = frozenset()
    holds_back = False

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened; a failed command is recognised by the end of its output."""
        used = _tool(payload)
        return HookEvent(
            host=self.name,
            event="tool-failure" if event == "post-tool" and used is not None and used.error else event,
            session=adapter.text(payload, "sessionId"),
            cwd=adapter.text(payload, "cwd"),
            transcript=adapter.text(payload, "transcriptPath"),
            beginning=adapter.beginning(payload),
            prompt=adapter.text(payload, "prompt"),
            tool=used,
            trigger=adapter.text(payload, "reason", "stopReason"),
            is_continuation=payload.get("stop_hook_active") is True,
        )

    def write(self, event: Event, reaction: Reaction) -> Answer:
        """Return the answer; this host cannot show the person anything."""
        answer: Answer = {"additionalContext": reaction.inject} if reaction.inject and event in _INJECTS else {}
        if reaction.ask and event == "stop":
            answer |= {"decision": "block", "reason": reaction.ask}
        return answer


def _tool(payload: Payload) -> ToolUse | None:
    name = adapter.text(payload, "toolName")
    if not name:
        return None
    output, error = adapter.words(payload.get("toolResult")), adapter.text(payload, "error")
    if not error and _EXIT.search(output):
        error = output
    return ToolUse(name, adapter.kind(name), adapter.mapping(payload, "toolArgs"), output, error)


ADAPTER = Copilot()
