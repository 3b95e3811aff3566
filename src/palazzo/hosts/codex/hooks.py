"""Codex's hooks, as observed in version 0.169: a subset of Claude Code's formats.

There is no event for a failed tool: a command that fails arrives as PostToolUse. A block in answer to it would replace
the tool's output, and a block of a compaction would end the turn; the adapter never writes either. Codex limits
SessionEnd to three seconds.
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
    "subagent-start": "SubagentStart",
    "subagent-stop": "SubagentStop",
    "stop": "Stop",
    "pre-compact": "PreCompact",
    "session-end": "SessionEnd",
}
_INJECTS: frozenset[Event] = frozenset(["session-start", "prompt", "pre-tool", "post-tool"])
_FAILED = re.compile(
    r"^(?:Exit code|Process exited with code|exit status):? (?!0\b)-?\d+", re.MULTILINE | re.IGNORECASE
)
"""Text that Codex may write above the output of a command that failed."""


class Codex:
    """The adapter for Codex."""

    name = "codex"
    events: Mapping[str, Event] = {own: event for event, own in _NAMES.items()} | {event: event for event in _NAMES}
    shows: frozenset[Event] = frozenset(_NAMES) - {"session-end"}
    holds_back = False  # it would end the turn

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened."""
        return claude_shaped.parse_by_output(self.name, event, payload, _FAILED)

    def write(self, event: Event, reaction: Reaction) -> Answer:
        """Return the answer in the shape that reaches the model; compaction cannot be delayed in this host."""
        answer = claude_shaped.answer(_NAMES, _INJECTS, event, reaction)
        if reaction.ask and event == "stop":
            answer |= {"decision": "block", "reason": reaction.ask}
        return answer


ADAPTER = Codex()
