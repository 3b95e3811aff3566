"""Calls that can take longer than a page waits: they go on, and the next request for the same gets their result."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from palazzo.faces.web.page_calls import PageCalls

_KEPT_SECONDS = 10.0
"""Seconds for which a result waits for the request that fetches it."""


class SlowCalls:
    """The running calls of one viewer, by visitor and request. All methods run on the server's event loop."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[Any]] = {}

    async def run_within(self, seconds: float, visitor: str, calls: PageCalls, name: str, /, **values: Any) -> Any:
        """Return an operation's result, or None if it takes longer; raise what it raises.

        `visitor` is the key of the visitor's session: nobody gets what another one asked for.
        """
        key = json.dumps([visitor, calls.derive_seconds, name, values], sort_keys=True)
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.ensure_future(calls.run_to_end(name, **values))
            task.add_done_callback(lambda done: self._forget_later(key, done))
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            return None
        self._tasks.pop(key, None)
        return task.result()

    def _forget_later(self, key: str, task: asyncio.Task[Any]) -> None:
        """Forget a result that nobody fetches: the palace changes."""
        if not task.cancelled():
            task.exception()  # so that it is not reported as an error that nobody handled
        asyncio.get_running_loop().call_later(_KEPT_SECONDS, self._forget, key, task)

    def _forget(self, key: str, task: asyncio.Task[Any]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]
