"""Progress of one call for the client, and cancellation by the client for the operation."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.context import ServerRequestContext

from palazzo.faces.mcp.client_calls import OperationCancelled
from palazzo.operations.context import Progress

REPORT_INTERVAL = 0.2
"""Minimum seconds between two forwarded reports: the rate at which a progress bar is drawn."""


class Reports:
    """Accepts reports from any thread, and forwards some of them."""

    def __init__(self, send: MemoryObjectSendStream[tuple[float, float, str]], is_enabled: bool) -> None:
        self.notices: list[str] = []
        self.stopped = threading.Event()
        self._send, self._wanted, self._loop = send, is_enabled, asyncio.get_running_loop()
        self._next = time.monotonic() + REPORT_INTERVAL
        self._what, self._before, self._last = "", 0, -1

    def progress(self, progress: Progress) -> None:
        """Accept a report; raises Stopped if nothing waits for the operation any more."""
        if self.stopped.is_set():
            raise OperationCancelled
        if self._what and progress.what != self._what:
            self._before = max(self._last, 0)  # the protocol's progress only ever grows, and each stage counts anew
        self._what = progress.what
        position = self._before + progress.done
        if not self._wanted or time.monotonic() < self._next or position <= self._last:
            return
        self._next, self._last = time.monotonic() + REPORT_INTERVAL, position
        message = f"{progress.what} {progress.done:,} of {progress.total:,}" if progress.total else progress.what
        report = (
            float(position),
            float(self._before + progress.total),
            ", ".join(filter(None, (message, progress.detail))),
        )
        self._loop.call_soon_threadsafe(self._pass_on, report)

    def notice(self, sentence: str) -> None:
        """Add a sentence to the answer."""
        self.notices.append(sentence)

    def _pass_on(self, report: tuple[float, float, str]) -> None:
        try:
            self._send.send_nowait(report)
        except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # the client reads slower than work goes on, or has gone: the next report says more


@asynccontextmanager
async def relay_reports(context: ServerRequestContext[Any, Any]) -> AsyncIterator[Reports]:
    """Pass on the reports of one call while it runs. After a cancellation, the next report raises Stopped."""
    send, receive = anyio.create_memory_object_stream[tuple[float, float, str]](8)
    reports = Reports(send, "progress_token" in (context.meta or {}))

    async def pass_on() -> None:
        try:
            async for position, total, message in receive:
                await context.session.report_progress(position, total if total >= position else None, message)
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            reports.stopped.set()
            raise

    async with send, receive, anyio.create_task_group() as group:
        group.start_soon(pass_on)
        yield reports
        group.cancel_scope.cancel()
