"""Gemini CLI's hooks, as version 0.61 was seen to speak; what its answers do is known from its documentation alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from palazzo.hosts import adapter, claude_shaped
from palazzo.hosts.adapter import Answer, Payload
from palazzo.injection.hook_events import Event, HookEvent, Reaction, ToolUse

_NAMES: dict[Event, str] = {
    "session-start": "SessionStart",
    "prompt": "BeforeAgent",
    "pre-tool": "BeforeTool",
    "post-tool": "AfterTool",
    "stop": "AfterAgent",
    "pre-compact": "PreCompress",
    "session-end": "SessionEnd",
}
_INJECTS: frozenset[Event] = frozenset(["session-start", "prompt", "post-tool"])
_EXIT = re.compile(r"^Exit Code: (?!0\b)-?\d+", re.MULTILINE)


class GeminiCli:
    """The adapter."""

    name = "gemini-cli"
    events: Mapping[str, Event] = {own: event for event, own in _NAMES.items()} | {event: event for event in _NAMES}
    shows: frozenset[Event] = frozenset(_NAMES) - {"session-end"}
    holds_back = False

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened; a command that failed is told of by its exit code in the output."""
        used = claude_shaped.tool(payload)
        if event == "post-tool" and used is not None and (error := _error(payload, used)):
            return claude_shaped.parse_event(self.name, "tool-failure", payload, replace(used, error=error))
        return claude_shaped.parse_event(self.name, event, payload, used)

    def write(self, event: Event, reaction: Reaction) -> Answer:
        """Return the answer."""
        answer = claude_shaped.answer(_NAMES, _INJECTS, event, reaction)
        if reaction.ask and event == "stop":
            answer |= {"decision": "deny", "reason": reaction.ask}
        return answer


def _error(payload: Payload, used: ToolUse) -> str:
    """What went wrong: the response's own error, else the output of a command that ended with a code."""
    error = adapter.words(adapter.mapping(payload, "tool_response").get("error"))
    return error or (used.output if _EXIT.search(used.output) else "")
