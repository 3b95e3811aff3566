"""Live events: one look at the palace for all open pages, and a stream of events for each (server-sent events).

Looking costs a `stat` of the palace's files while nothing changes. An operation is run only after a change: calls would
hold back the process that computes vectors.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path

from palazzo.errors import PalazzoError
from palazzo.faces.mcp.client_calls import Call
from palazzo.faces.web.page_calls import PageCalls
from palazzo.faces.web.web_sessions import Visitor
from palazzo.features.viewer.contract import RecentChangesResult

LOOK_SECONDS = 1.0
"""Seconds between two looks: a new message appears within a second or two."""
HEARTBEAT_SECONDS = 15.0
"""Seconds after which a quiet stream sends a comment, so that a connection that is gone is noticed."""
MOST_STREAMS = 64
"""The most open pages that get events; further ones are told to try again later."""


class LiveEvents:
    """Watches a palace while at least one page is open. All methods run on the server's event loop."""

    def __init__(self, call: Call, palace: Path) -> None:
        self._calls = PageCalls(call, Visitor(palace.parent, dict(os.environ)))
        self._files = (palace, palace.with_name(f"{palace.name}-wal"))
        self._queues: set[asyncio.Queue[str | None]] = set()
        self._watching: asyncio.Task[None] | None = None
        self._has_looked = asyncio.Event()

    @property
    def stream_count(self) -> int:
        """Return how many pages are open."""
        return len(self._queues)

    async def stream(self) -> AsyncIterator[str]:
        """Yield the lines of a stream until the page is closed or the server stops."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._queues.add(queue)
        if self._watching is None:
            self._has_looked = asyncio.Event()
            self._watching = asyncio.ensure_future(self._watch())
        try:
            await self._has_looked.wait()  # what changes from now on is not missed
            yield "retry: 2000\nevent: begin\ndata: {}\n\n"
            while True:
                try:
                    event = await asyncio.wait_for(queue.get(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    yield ": still there\n\n"
                    continue
                if event is None:
                    return
                yield event
        finally:
            self._queues.discard(queue)
            if not self._queues and self._watching is not None:
                self._watching.cancel()
                self._watching = None

    def end(self) -> None:
        """End every stream; the pages connect again when there is a server."""
        for queue in self._queues:
            queue.put_nowait(None)

    async def _watch(self) -> None:
        """Look at the files, and send an event after each change."""
        seen = None
        last: RecentChangesResult | None = None
        while True:
            stamps = [_stamp(file) for file in self._files]
            if stamps != seen:
                seen = stamps
                with contextlib.suppress(PalazzoError):  # the pages say what is wrong with it
                    changes: RecentChangesResult = await self._calls.run(
                        "recent_changes", since=None if last is None else last.newest
                    )
                    if last is not None and changes != last:
                        self._send(last, changes)
                    last = changes
            self._has_looked.set()
            await asyncio.sleep(LOOK_SECONDS)

    def _send(self, last: RecentChangesResult, changes: RecentChangesResult) -> None:
        document = {
            "sessions": [asdict(session) for session in changes.sessions],
            "injections": changes.injection != last.injection,
            "digests": changes.digest != last.digest,
            "erased": changes.erased,
        }
        event = f"event: change\ndata: {json.dumps(document)}\n\n"
        for queue in self._queues:
            queue.put_nowait(event)


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
