"""Cursor's hooks, from public readers; the program was not run.

The payload: entireio/cli (`cmd/entire/cli/agent/cursor/types.go`) and cdot65/prisma-airs-cursor-hooks
(`reference/cursor-hooks-api`) agree on `conversation_id`, `workspace_roots` and `transcript_path`. The answer:
obra/superpowers and DietrichGebert/ponytail add context by `additional_context` after `sessionStart`.
"""

from __future__ import annotations

from collections.abc import Mapping

from palazzo.hosts import adapter
from palazzo.hosts.adapter import Answer, Payload
from palazzo.injection.hook_events import Event, HookEvent, Reaction


class Cursor:
    """The adapter for Cursor."""

    name = "cursor"
    events: Mapping[str, Event] = {"sessionStart": "session-start", "session-start": "session-start"}
    shows: frozenset[Event] = frozenset()
    holds_back = False

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened. Palazzo reads Cursor's database, not the transcript that a payload names."""
        roots = payload.get("workspace_roots")
        folder = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
        return HookEvent(
            host=self.name,
            event=event,
            session=adapter.text(payload, "conversation_id", "session_id"),
            cwd=folder or adapter.text(payload, "cwd"),
        )

    def write(self, event: Event, reaction: Reaction) -> Answer:
        """Return the answer."""
        return {"additional_context": reaction.inject} if reaction.inject and event == "session-start" else {}


ADAPTER = Cursor()
