"""Windsurf's hooks (Cascade Hooks), from its documentation as of 2026; the program was not run.

The documentation is the page `windsurf/cascade/hooks`. Two public readers agree with it on `agent_action_name`,
`trajectory_id` and `tool_info` (dyoshikawa/rulesync, `windsurf-hooks.ts`; peon-ping, `windsurf.sh`).

Cascade puts nothing that a hook prints before the model, so a prompt and the answer to it are only archived. No payload
names a directory: Cascade starts a hook in the root of the workspace. There is no hook for a session's start or end.
"""

from __future__ import annotations

from collections.abc import Mapping

from palazzo.hosts import adapter
from palazzo.hosts.adapter import Answer, Payload
from palazzo.injection.hook_events import Event, HookEvent, Reaction


class Windsurf:
    """The adapter for Windsurf."""

    name = "windsurf"
    events: Mapping[str, Event] = {
        "pre_user_prompt": "prompt",
        "post_cascade_response": "stop",
        "prompt": "prompt",
        "stop": "stop",
    }
    shows: frozenset[Event] = frozenset()
    holds_back = False

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened."""
        details = adapter.mapping(payload, "tool_info")
        return HookEvent(
            host=self.name,
            event=event,
            session=adapter.text(payload, "trajectory_id"),
            cwd="",
            prompt=adapter.text(details, "user_prompt"),
            last_message=adapter.text(details, "response"),
        )

    def write(self, event: Event, reaction: Reaction) -> Answer:
        """Return an empty answer: the host shows none."""
        return {}


ADAPTER = Windsurf()
