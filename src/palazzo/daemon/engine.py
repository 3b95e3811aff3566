"""Engine: runs operations for all connections of one service, and owns the palace, the threads and the load count.

It knows nothing of sockets. It records of a call its name, its duration and the kind of error that ended it, but never
any content of the request or the answer.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from palazzo.daemon.palace_pool import Pool
from palazzo.daemon.worker_pools import Lanes
from palazzo.errors import PalaceUnusable, PalazzoError, UsageError
from palazzo.faces.mcp.client_calls import OperationCancelled
from palazzo.features.service.background_process import note_call
from palazzo.frozen_class import frozen
from palazzo.model import Trust
from palazzo.operations import idempotency, registry
from palazzo.operations.context import Context, Progress
from palazzo.operations.operation import Operation

_log = logging.getLogger("palazzo.service")
_NEVER_HERE = frozenset(["watch", "view", "service_start", "service_stop", "service_status"])
"""Operations that a service does not run: one never ends, the others control the service itself."""

_NOTE_EVERY = 2.0
"""Seconds between two notices to the embedding process that calls are arriving."""

_QUIET_WITHIN, _LOOK_AGAIN = 1.5, 0.02
"""Seconds to wait for a moment without calls before a model is loaded, and between two checks: loading takes the core
that an answer needs.
"""


@frozen
class Job:
    """An operation to run, and its caller's context. `on_progress` may raise Stopped when the caller no longer waits.

    A job that is `owed` is short, and runs to its end even if the service is told to stop. A job waits at most
    `lock_wait` seconds for another program's lock, and spends at most `derive_seconds` on data that is not derived yet,
    if these are given. Without `waits_for_model`, its searches answer by keyword alone while the model is being loaded.
    """

    operation: Operation[Any, Any]
    request: Any
    key: str | None
    cwd: Path
    variables: Mapping[str, str]
    trust: Trust
    on_progress: Callable[[Progress], None]
    on_notice: Callable[[str], None]
    owed: bool = False
    lock_wait: float | None = None
    waits_for_model: bool = True
    derive_seconds: float | None = None


class Engine:
    """Runs jobs in the worker pools, on palaces of the palace pool."""

    def __init__(self, palace: Path) -> None:
        self.palace = palace
        self.pool, self._lanes = Pool(), Lanes()
        self.stopping = threading.Event()
        """Set when long jobs must stop at their next progress report."""
        self.done = 0
        self.last_call = float("-inf")
        """Time when a call last started or ended, by the monotonic clock."""
        self._noted = float("-inf")
        self._running: dict[int, str] = {}
        self._lock = threading.Lock()

    @property
    def running(self) -> int:
        """Return how many jobs were accepted and are not finished."""
        return len(self._running)

    def submit(self, job: Job) -> Future[Any]:
        """Start a job; the future has its result, or the error that it raised."""
        with self._lock:
            number = self.done + len(self._running) + 1
            while number in self._running:
                number += 1
            self._running[number] = job.operation.name
        now = time.monotonic()
        if now - self._noted >= _NOTE_EVERY:
            self._noted = now
            note_call(self.palace, os.environ)
        self.last_call = now
        try:
            future = self._lanes.submit(job.operation, lambda: self._run(job))
        except RuntimeError:
            self._end(number)
            raise
        future.add_done_callback(lambda _: self._end(number))
        return future

    @contextlib.contextmanager
    def leased_context(self, variables: Mapping[str, str]) -> Iterator[Context]:
        """Yield a context of the service itself, on a palace of the pool."""
        with (
            self.pool.lease() as lease,
            Context(self.palace, self.palace.parent, variables, palace_opener=lease) as context,
        ):
            yield context

    def warm_up(self) -> None:
        """Load the model and the vectors of each open palace, in a moment without calls if one comes soon."""
        deadline = time.monotonic() + _QUIET_WITHIN
        while self.running and time.monotonic() < deadline:
            time.sleep(_LOOK_AGAIN)
        try:
            self.pool.warm_up()
        except PalazzoError as error:
            _log.info("warming up: %s", type(error).__name__)

    def close(self) -> None:
        """Wait for running jobs, and close the palace."""
        self._lanes.close()
        self.pool.close()

    def _end(self, number: int) -> None:
        with self._lock:
            del self._running[number]
            self.done += 1
        self.last_call = time.monotonic()

    def _run(self, job: Job) -> Any:
        began = time.perf_counter()
        outcome = "interrupted"
        try:
            result = self._carried_out(job)
            outcome = "done"
        except PalazzoError as error:
            outcome = type(error).__name__
            if isinstance(error, PalaceUnusable):
                self.pool.close()  # a file that was opened unwritable stays so until it is opened again
            raise
        except OperationCancelled:
            outcome = "stopped"
            raise
        except Exception as error:
            outcome = f"bug: {type(error).__name__} at {place_of(error)}"
            raise
        finally:
            _log.info("%s %.0f ms, %s", job.operation.name, (time.perf_counter() - began) * 1000, outcome)
        return result

    def _carried_out(self, job: Job) -> Any:
        def report(progress: Progress) -> None:
            if self.stopping.is_set() and not job.owed:
                raise OperationCancelled
            job.on_progress(progress)

        with (
            self.pool.lease() as lease,
            Context(
                self.palace,
                job.cwd,
                job.variables,
                on_progress=report,
                on_notice=job.on_notice,
                trust=job.trust,
                palace_opener=lease,
                lock_wait=job.lock_wait,
                waits_for_model=job.waits_for_model,
                derive_seconds=job.derive_seconds,
            ) as context,
        ):
            return idempotency.call(context, job.operation, job.request, job.key)


def operation_called(name: object) -> Operation[Any, Any]:
    """Return the operation with that name; UsageError if it does not exist, or is not for a service."""
    operation_names = registry.FEATURES.keys() | registry.FOR_CLIENTS.keys()
    if not isinstance(name, str) or name not in operation_names or name in _NEVER_HERE:
        raise UsageError(f"The service has no operation {name!r}.")
    return registry.operation(name)


def place_of(error: Exception) -> str:
    """Return where in the package an error came from; its message may hold user text, and is left out."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "palazzo" in frame.filename]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
