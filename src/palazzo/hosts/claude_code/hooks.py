"""Claude Code's hooks, as observed in versions 2.1.197 and 2.1.330.

Of a hook's output, only `hookSpecificOutput` with the name of the same event reaches the model. The same text at the
top level is silently ignored, and after a compaction the complaint about it would itself be injected. Plain text that
PreCompact prints becomes part of the summary's instructions, so that event writes nothing except a block.
"""

from __future__ import annotations

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
    "subagent-start": "SubagentStart",
    "subagent-stop": "SubagentStop",
    "stop": "Stop",
    "pre-compact": "PreCompact",
    "session-end": "SessionEnd",
}
_INJECTS: frozenset[Event] = frozenset(
    ["session-start", "prompt", "pre-tool", "post-tool", "tool-failure", "subagent-start"]
)


class ClaudeCode:
    """The adapter for Claude Code."""

    name = "claude-code"
    events: Mapping[str, Event] = {own: event for event, own in _NAMES.items()} | {event: event for event in _NAMES}
    shows: frozenset[Event] = frozenset(_NAMES) - {"pre-compact", "subagent-stop", "session-end"}
    holds_back = True

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened; None for the stop of the summarising agent, which has no kind."""
        session_event = claude_shaped.parse_event(self.name, event, payload, claude_shaped.tool(payload))
        return None if event == "subagent-stop" and not session_event.agent_kind else session_event

    def write(self, event: Event, reaction: Reaction) -> Answer:
        """Return the answer in the shape that reaches the model, or the person."""
        answer = claude_shaped.answer(_NAMES, _INJECTS, event, reaction)
        if (reaction.ask and event == "stop") or (reaction.hold_back and event == "pre-compact"):
            answer |= {"decision": "block", "reason": reaction.ask or reaction.tell}
        return answer


ADAPTER = ClaudeCode()
