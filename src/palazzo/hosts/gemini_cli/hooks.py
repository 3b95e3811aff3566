"""Gemini CLI's hooks, as observed in version 0.61. The effect of its answers is known only from its documentation."""

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
    """The adapter for Gemini CLI."""

    name = "gemini-cli"
    events: Mapping[str, Event] = {own: event for event, own in _NAMES.items()} | {event: event for event in _NAMES}
    shows: frozenset[Event] = frozenset(_NAMES) - {"session-end"}
    holds_back = False

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened; a failed command is recognised by the exit code in its output."""
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
    """Return the error: the response's own, else the output of a command that ended with a code."""
    error = adapter.words(adapter.mapping(payload, "tool_response").get("error"))
    return error or (used.output if used.kind == "command" and _EXIT.search(used.output) else "")


ADAPTER = GeminiCli()
