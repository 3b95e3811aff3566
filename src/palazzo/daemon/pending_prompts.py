"""What a person sent in a turn that has not ended, of sessions whose host names no transcript.

Most hosts tell of the prompt when it is sent, and of the answer when the turn ends. Of sessions that have a transcript
nothing is kept of either; until that is known prompts stand here, in memory alone.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from palazzo.features.hooks.hook import HookRequest

_MOST = 200
"""Sessions whose prompts are held; the oldest go first."""
_ENDS = ("stop", "session-end")


class Prompts:
    """Holds prompts until their turns end."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], list[HookRequest]] = {}
        self._lock = threading.Lock()

    def turns(self, request: HookRequest) -> list[HookRequest]:
        """Return what is to be asked for: `request`, with the prompt that its turn began with, where it ends one.

        Before it come the ends of turns that the host did not tell of: a person went on in the middle of them.
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
