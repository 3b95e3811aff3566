"""Two lanes of threads: what is done in a moment never waits behind what takes minutes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from palazzo.operations.operation import Operation

T = TypeVar("T")

SHORT, LONG = 4, 2
"""Threads of each. Each short one holds a connection with its own cache of pages; more answer no sooner on the cores of
a laptop. Two long ones let a `verify` go on beside a `mine`."""
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
"""Operations that may take seconds although they commit no steps: they read all there is, or much of it."""


class Lanes:
    """Runs work in one of two lanes, in the order in which it came to each."""

    def __init__(self) -> None:
        self._short = ThreadPoolExecutor(SHORT, "palazzo-call")
        self._long = ThreadPoolExecutor(LONG, "palazzo-long")

    def submit(self, operation: Operation[Any, Any], work: Callable[[], T]) -> Future[T]:
        """Run `work`, which is of `operation`, as soon as there is a thread; RuntimeError when the lanes are closed."""
        is_long = operation.steps or operation.name in _TAKES_LONG
        return (self._long if is_long else self._short).submit(work)

    def close(self) -> None:
        """Wait for what runs, and take no more."""
        self._short.shutdown(cancel_futures=True)
        self._long.shutdown(cancel_futures=True)
