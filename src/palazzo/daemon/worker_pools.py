"""Worker pools: three thread pools, so that short work never waits behind work that takes minutes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from palazzo.operations.operation import Operation

T = TypeVar("T")

SHORT, LONG, WAITING = 4, 2, 16
"""Threads of each pool. Each short thread holds a connection with its own page cache; more threads do not answer sooner
on the cores of a laptop. Two long threads let a `verify` run beside a `mine`. A waiting thread
sleeps between short reads; each agent that waits for another has one.
"""
_TAKES_LONG = frozenset(
    [
        *(
            "verify",
            "doctor",
            "audit",
            "bench",
            "diff",
            "digest",
            "kg_suggest",
            "kg_conflicts",
            "restore_session",
            "undo",
        ),
        "session_checkpoint",
    ]
)
"""Operations that may take seconds although they do not commit in steps: they read all or much of the data."""
_WAITS = frozenset(["event_wait"])
"""Operations that sleep until something happens."""


class Lanes:
    """Runs work in one of three pools, each in order of submission."""

    def __init__(self) -> None:
        self._short = ThreadPoolExecutor(SHORT, "palazzo-call")
        self._long = ThreadPoolExecutor(LONG, "palazzo-long")
        self._waiting = ThreadPoolExecutor(WAITING, "palazzo-wait")

    def submit(self, operation: Operation[Any, Any], work: Callable[[], T]) -> Future[T]:
        """Run `work` of `operation` as soon as a thread is free; RuntimeError when the worker pools are closed."""
        if operation.name in _WAITS:
            return self._waiting.submit(work)
        is_long = operation.steps or operation.name in _TAKES_LONG
        return (self._long if is_long else self._short).submit(work)

    def close(self) -> None:
        """Wait for running work, and accept no more."""
        self._short.shutdown(cancel_futures=True)
        self._long.shutdown(cancel_futures=True)
        self._waiting.shutdown(cancel_futures=True)
