"""Droid's hooks, learned from version 0.215.0: payloads and answers in Claude Code's format.

`droid exec` runs no hook for a prompt.
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
    "post-tool": "PostToolUse",
    "stop": "Stop",
    "session-end": "SessionEnd",
}
_INJECTS: frozenset[Event] = frozenset(["session-start", "prompt", "post-tool"])
_EXIT = re.compile(r"^\[Process exited with code (?!0\b)-?\d+\]", re.MULTILINE)


class Droid:
    """The adapter for Droid."""

    name = "droid"
    events: Mapping[str, Event] = {own: event for event, own in _NAMES.items()} | {event: event for event in _NAMES}
    shows: frozenset[Event] = frozenset()
    holds_back = False

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened; a failed command is recognised by the exit code in its output."""
        return claude_shaped.parse_by_output(self.name, event, payload, _EXIT)

    def write(self, event: Event, reaction: Reaction) -> Answer:
        """Return the answer."""
        return claude_shaped.answer(_NAMES, _INJECTS, event, reaction)


ADAPTER = Droid()
