"""Kiro's hooks in the form of IDE 1.x and CLI 3; the programs were not run.

The sources: Kiro's documentation (`docs/hooks/types`, `docs/hooks/actions`, `docs/cli/v3/hooks`, and the changelog of
CLI 2.13, which added `~/.kiro/hooks`), and payloads that others captured: IDE 1.0.165 and 1.0.242
(awslabs/aidlc-workflows, `kiro-ide-hook-payload.md`), CLI 2.14 (amitnexTech/trailmem, `trailmem/hosts/kiro.py`).

Kiro adds to the context whatever a hook prints when a session starts and after a prompt, so the output is the words
alone (`client/hook_client`), and nothing where there are none. Some builds send an empty prompt or session.
"""

from __future__ import annotations

from collections.abc import Mapping

from palazzo.hosts import adapter
from palazzo.hosts.adapter import Answer, Payload
from palazzo.injection.hook_events import Event, HookEvent, Reaction

_NAMES: dict[str, Event] = {"SessionStart": "session-start", "UserPromptSubmit": "prompt", "Stop": "stop"}
_INJECTS: frozenset[Event] = frozenset(["session-start", "prompt"])


class Kiro:
    """The adapter for Kiro."""

    name = "kiro"
    events: Mapping[str, Event] = _NAMES | {event: event for event in _NAMES.values()}
    shows: frozenset[Event] = frozenset()
    holds_back = False

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened."""
        return HookEvent(
            host=self.name,
            event=event,
            session=adapter.text(payload, "session_id"),
            cwd=adapter.text(payload, "cwd"),
            beginning=adapter.beginning(payload),
            prompt=adapter.text(payload, "prompt"),
            last_message=adapter.text(payload, "assistant_response"),
        )

    def write(self, event: Event, reaction: Reaction) -> Answer:
        """Return the words for the context; `hook_client` prints them without JSON."""
        return {"context": reaction.inject} if reaction.inject and event in _INJECTS else {}


ADAPTER = Kiro()
