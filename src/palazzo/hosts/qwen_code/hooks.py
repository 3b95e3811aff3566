"""Qwen Code's hooks, from the source code of version 0.24: payloads and answers in Claude Code's format.

The host writes `&lt;` and `&gt;` for the brackets of what a hook adds. It shows the person a line only after Stop.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from palazzo.hosts import claude_shaped
from palazzo.hosts.adapter import Answer, Payload
from palazzo.injection.hook_events import Event, HookEvent, Reaction

_NAMES: dict[Event, str] = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "pre-tool": "PreToolUse",
    "post-tool": "PostToolUse",
    "tool-failure": "PostToolUseFailure",
    "stop": "Stop",
    "pre-compact": "PreCompact",
    "session-end": "SessionEnd",
}
_INJECTS: frozenset[Event] = frozenset(["session-start", "prompt", "pre-tool", "post-tool", "tool-failure"])
_EXIT = re.compile(r"^Exit Code: (?!0\b)-?\d+", re.MULTILINE)


class QwenCode:
    """The adapter for Qwen Code."""

    name = "qwen-code"
    events: Mapping[str, Event] = {own: event for event, own in _NAMES.items()} | {event: event for event in _NAMES}
    shows: frozenset[Event] = frozenset(["stop"])
    holds_back = False

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened; a failed command is recognised by the exit code in its output."""
        return claude_shaped.parse_by_output(self.name, event, payload, _EXIT)

    def write(self, event: Event, reaction: Reaction) -> Answer:
        """Return the answer."""
        answer = claude_shaped.answer(_NAMES, _INJECTS, event, reaction)
        if reaction.ask and event == "stop":
            answer |= {"decision": "block", "reason": reaction.ask}
        return answer


ADAPTER = QwenCode()
