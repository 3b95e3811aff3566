"""Pending prompts: prompts of turns that have not ended, in sessions whose host names no transcript.

Most hosts report the prompt when it is sent, and the answer when the turn ends. For sessions that have a transcript,
neither is kept. Until that is known, prompts are held here, in memory only.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from palazzo.features.hooks.contract import HookRequest

_MOST = 200
"""Maximum number of sessions whose prompts are held; the oldest are dropped first."""
_ENDS = ("stop", "session-end")


class Prompts:
    """Holds prompts until their turns end."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], list[HookRequest]] = {}
        self._lock = threading.Lock()

    def turns(self, request: HookRequest) -> list[HookRequest]:
        """Return the requests to process: `request`, with the prompt of its turn if it ends one.

        The ends of turns that the host did not report come first: the user continued in the middle of them.
        """
        key = (request.host, request.session)
        with self._lock:
            if request.event == "prompt" and request.prompt and not request.transcript:
                self._held.setdefault(key, []).append(request)
                while len(self._held) > _MOST:
                    del self._held[next(iter(self._held))]
                return [request]
            prompts = self._held.pop(key, []) if request.event in _ENDS else []
        if not prompts or request.transcript:
            return [request]
        *earlier_prompts, last = prompts
        if request.prompt and request.prompt != last.prompt:
            earlier_prompts.append(last)
        turn_ends = [replace(prompt, event="session-end") for prompt in earlier_prompts]
        return [*turn_ends, replace(request, prompt=request.prompt or last.prompt)]
