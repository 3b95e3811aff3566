"""Preparation pool: processes that read transcripts ahead of the one that writes them.

    transcripts ──requests──> preparing processes ──batches, in order──> the writer
                              parse, redact, pack                        one connection, one lock

Each process has a thread here that hands it the next transcript and takes its answers, still pickled. A transcript may
be a few batches ahead, and a process a few transcripts, so memory is bounded. If a process ends, its transcript is lost
to the pool, and the writer prepares it itself.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from palazzo.archive.ingest_guard import Guard
from palazzo.sources.batch_codec import decode_batch
from palazzo.sources.pause_gaps import Pause
from palazzo.sources.preparation_process import Answer, Request, read_payload, write_frame
from palazzo.sources.session_batches import SessionBatch
from palazzo.sources.transcript_preparation import PreparedTranscript

LEAST_BYTES = 8_000_000
"""Bytes to read from which processes are started: to start, they take as long as reading a megabyte or two."""
MOST_PROCESSES = 4
"""More of them would prepare faster than one process writes."""
_BATCHES_AHEAD, _TRANSCRIPTS_AHEAD = 4, 6
"""The most batches of a transcript, and transcripts of a process, that wait for the writer."""


class PreparationLost(Exception):
    """The process that prepared a transcript has ended, or could not read it."""


def count_processes() -> int:
    """Return how many preparing processes this machine has room for beside the writer; 0 if it has one core."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 0 if usable < 2 else min(max(usable - 1, 1), MOST_PROCESSES)


@dataclass(slots=True)
class _Delivery:
    """The answers to a request that have not been fetched. `is_over`: no more will come."""

    answers: deque[bytes] = field(default_factory=deque)
    is_over: bool = False
    is_unwanted: bool = False


class PreparationPool:
    """Prepares transcripts in the order of `requests`, in `processes` processes; a context manager."""

    def __init__(self, requests: Sequence[Request], processes: int, guard: Guard, pauses: tuple[Pause, ...]) -> None:
        self._requests, self._guard, self._pauses = requests, guard, pauses
        self._numbers = {request.path: n for n, request in enumerate(requests)}
        self._ahead = _TRANSCRIPTS_AHEAD * processes
        self._changed = threading.Condition()
        self._deliveries: dict[int, _Delivery] = {}
        self._next = self._reached = 0
        self._is_closed = False
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads: list[threading.Thread] = []
        self._living = 0
        self._count = processes

    def __enter__(self) -> PreparationPool:
        """Start the processes; the pool has fewer where the system refuses one."""
        for _ in range(min(self._count, len(self._requests))):
            try:
                self._start_process()
            except (OSError, RuntimeError):  # a limit on processes, on threads or on memory
                break
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        for process in self._processes:
            process.kill()
            process.wait()
        for thread in self._threads:
            thread.join()
        for process in self._processes:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    _close(stream)

    def _start_process(self) -> None:
        """Start a process, and a thread that serves it. Raises OSError or RuntimeError if the system refuses either."""
        process = _start()
        thread = threading.Thread(target=self._serve, args=(process,), daemon=True, name="palazzo-prepare")
        self._living += 1
        try:
            thread.start()
        except RuntimeError:
            self._living -= 1
            process.kill()
            process.communicate()
            raise
        self._processes.append(process)
        self._threads.append(thread)

    def take(self, path: Path) -> PreparedTranscript | None:
        """Return a prepared transcript; None if it was not requested, or its process has ended.

        Transcripts are taken in the order of the requests; some may be left out. Its batches raise PreparationLost.
        """
        number = self._numbers.get(path)
        if number is None:
            return None
        self._discard_before(number)
        answers = self._answers(number)
        try:
            _, (status, start, identity, preview) = next(answers)
        except PreparationLost:
            return None

        def read_batches() -> Iterator[SessionBatch]:
            for _, plain in answers:
                yield decode_batch(plain, identity, self._guard)

        return PreparedTranscript(self._requests[number].state, status, start, identity, preview, read_batches())

    def _discard_before(self, number: int) -> None:
        """Give up earlier transcripts that were not read to their end."""
        with self._changed:
            for n in [n for n in self._deliveries if n < number]:
                self._deliveries[n].is_unwanted = True
                self._deliveries[n].answers.clear()
                if self._deliveries[n].is_over:
                    del self._deliveries[n]
            self._reached = number
            self._changed.notify_all()

    def _answers(self, number: int) -> Iterator[Answer]:
        """Yield the answers to a request up to its end. Raises PreparationLost."""
        while True:
            kind, content = pickle.loads(self._wait_for_answer(number))  # noqa: S301 (from a process of our own)
            if kind == "end":
                return
            if kind == "failed":
                raise PreparationLost(content)
            yield kind, content

    def _wait_for_answer(self, number: int) -> bytes:
        with self._changed:
            while True:
                delivery = self._deliveries.get(number)
                if delivery is not None and delivery.answers:
                    self._changed.notify_all()
                    return delivery.answers.popleft()
                if (delivery is None and not self._living) or (delivery is not None and delivery.is_over):
                    raise PreparationLost
                self._changed.wait()

    def _serve(self, process: subprocess.Popen[bytes]) -> None:
        """Hand requests to a process and collect its answers, until there are no more or it has ended."""
        number = -1
        try:
            assert process.stdin is not None  # noqa: S101 (it was started with pipes)
            write_frame(process.stdin, (self._guard, self._pauses))
            while (number := self._next_number()) >= 0:
                write_frame(process.stdin, tuple(self._requests[number]))
                self._collect(process, number)
        except (OSError, EOFError, ValueError):
            pass  # it has ended: what it had in hand is lost, as `is_over` says
        finally:
            with self._changed:
                self._living -= 1
                if number in self._deliveries:
                    self._deliveries[number].is_over = True
                self._changed.notify_all()

    def _next_number(self) -> int:
        """Return the next request once the writer is near enough; -1 if there is none."""
        with self._changed:
            while not self._is_closed and self._next < len(self._requests):
                if self._next < self._reached + self._ahead:
                    number, self._next = self._next, self._next + 1
                    self._deliveries[number] = _Delivery()
                    return number
                self._changed.wait()
            return -1

    def _collect(self, process: subprocess.Popen[bytes], number: int) -> None:
        assert process.stdout is not None  # noqa: S101 (it was started with pipes)
        is_over = False
        while not is_over:
            payload, is_over = read_payload(process.stdout)
            with self._changed:
                delivery = self._deliveries[number]
                while len(delivery.answers) >= _BATCHES_AHEAD and not (delivery.is_unwanted or self._is_closed):
                    self._changed.wait()
                if not delivery.is_unwanted:
                    delivery.answers.append(payload)
                delivery.is_over = is_over
                if is_over and delivery.is_unwanted:
                    del self._deliveries[number]
                self._changed.notify_all()


def _start() -> subprocess.Popen[bytes]:
    creation_flags = 0
    if sys.platform == "win32":
        creation_flags = subprocess.CREATE_NO_WINDOW
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "palazzo.sources.preparation_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=creation_flags,
    )


def _close(stream: IO[bytes]) -> None:
    try:
        stream.close()
    except OSError:  # what it had not read is lost with it
        return
