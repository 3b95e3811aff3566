"""Writers: many processes write and read one palace, while its service is killed and replaced by a newer one.

Half of them run operations in their own process, a third call the service, the others are sessions of an agent with
hooks. Every write that a process reported must be stored once, and a process must find what it has written.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from palazzo.client import rpc
from palazzo.errors import ServiceUnavailable
from palazzo.features.selftest.expected_state import Difference, ExpectedState, ObservedState, compare
from palazzo.features.selftest.journal import Journal
from palazzo.features.selftest.kill_suite import verify_palace
from palazzo.features.selftest.processes import kill
from palazzo.features.selftest.scratch import Scratch, stop_service
from palazzo.features.selftest.steps import Workbench, run_operation
from palazzo.features.selftest.suite_result import Progress, SuiteCounts
from palazzo.features.selftest.victims import Commands

WRITES = 50
"""Writes of each process: 16 processes then take some two minutes on two cores."""
_WAYS = ("own", "service", "own", "service", "own", "hook")
_LOOK_EVERY, _MOST_CALLS, _UPDATE_EVERY = 0.3, 20, 4
"""Seconds between two looks at the service, the most calls that it has answered when it is killed, and how many kills
there are until it meets a newer client instead.
"""
_NEWER = "999.0.0"


def run_writers(scratch: Scratch, journal: Journal, count: int, seed: int, report: Progress) -> Iterator[SuiteCounts]:
    """Yield the figures when all writers have ended."""
    counts, began = SuiteCounts("writers", runs=count), time.monotonic()
    directory = scratch.new_directory("writers")
    (directory / "palace").mkdir()
    palace = scratch.palace_in(directory / "palace")
    run_operation(palace, scratch.variables, "remember", text="The palace exists.", wing="selftest")
    writers = [_WriterProcess(scratch, directory, palace, n, _WAYS[n % len(_WAYS)]) for n in range(count)]
    with _ServiceKiller(palace, scratch.variables, seed, counts):
        while any(writer.is_running for writer in writers):
            report("writing", sum(len(writer.lines) for writer in writers), count * WRITES, f"{count} processes")
            time.sleep(0.2)
    state = ExpectedState()
    for writer in writers:
        state = writer.collect(state, counts, journal)
    stop_service(palace, scratch.variables)
    sessions = [writer for writer in writers if writer.way == "hook"]
    difference = _settle_hooks(scratch, sessions, palace, state, counts)
    counts.acknowledged, counts.present = len(state), len(state) - len(difference.lost)
    for sentence in difference.lost:
        counts.fail(sentence)
    for sentence in difference.doubled:
        counts.fail(sentence, is_doubled=True)
    for sentence in verify_palace(palace, Workbench(directory, palace, scratch.variables, random.Random(seed))):  # noqa: S311
        counts.fail(f"verify: {sentence}")
    counts.seconds = time.monotonic() - began
    yield counts


class _WriterProcess:
    """A writer, and what it has printed so far."""

    def __init__(self, scratch: Scratch, directory: Path, palace: Path, number: int, way: str) -> None:
        self.way, self.lines = way, list[dict[str, str | None]]()
        self.directory = directory / f"writer-{number}"
        self.directory.mkdir()
        arguments = [str(palace), str(self.directory), str(number), str(WRITES), way]
        self._process = subprocess.Popen(  # noqa: S603 - this Python, and this package
            [sys.executable, "-P", "-m", "palazzo.features.selftest.writer_process", *arguments],
            env=scratch.variables,
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._errors = ""
        self._threads = [threading.Thread(target=self._read), threading.Thread(target=self._read_errors)]
        for thread in self._threads:
            thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def collect(self, state: ExpectedState, counts: SuiteCounts, journal: Journal) -> ExpectedState:
        """Return `state` with what the process reported as written; count failures of the process."""
        for thread in self._threads:
            thread.join()
        if self._process.wait():
            counts.fail(f"a writer ({self.way}) failed: {self._errors.strip().rpartition(chr(10))[2]}")
        for line in self.lines:
            marker = line.get("marker")
            if marker is None:
                counts.fail(f"{line['missed']} was written, and its writer did not find it")
                continue
            journal.write("acknowledge", writer=self.directory.name, **line)
            counts.count(f"{self.way} writes")
            is_fact = line["kind"] == "fact"
            state = state.with_fact(marker) if is_fact else state.with_texts({marker: line["text"]})
        return state

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - for the type checker: it is a pipe
        with self._process.stdout as lines:
            for line in lines:
                self.lines.append(json.loads(line))

    def _read_errors(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 - for the type checker: it is a pipe
        with self._process.stderr as errors:
            self._errors = errors.read()


class _ServiceKiller:
    """Kills the service of a palace again and again, in a thread; now and then a newer client replaces it instead."""

    def __init__(self, palace: Path, variables: Mapping[str, str], seed: int, counts: SuiteCounts) -> None:
        self._endpoint, self._counts = rpc.address(str(palace), variables), counts
        self._chance = random.Random(f"{seed} services")  # noqa: S311 - no secret depends on it
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._is_done.set()
        self._thread.join()

    def _run(self) -> None:
        """Kill each service when it has answered some calls: a fixed time might be shorter than its start."""
        kill_count, calls = 0, self._chance.randrange(1, _MOST_CALLS)
        while not self._is_done.wait(_LOOK_EVERY):
            try:
                stream, answer = rpc.greet(self._endpoint, {"want": "state", "any": True})
                stream.close()
                if answer["state"]["calls"] < calls:
                    continue
                kill_count, calls = kill_count + 1, self._chance.randrange(1, _MOST_CALLS)
                if kill_count % _UPDATE_EVERY == 0:
                    rpc.greet(self._endpoint, {"want": "calls", "version": _NEWER})[0].close()
                else:
                    kill(int(answer["pid"]))
                    self._counts.count("services killed")
            except rpc.GivingWay:
                self._counts.count("services updated")
            except (ServiceUnavailable, ProcessLookupError):
                continue


def _settle_hooks(
    scratch: Scratch, writers: list[_WriterProcess], palace: Path, state: ExpectedState, counts: SuiteCounts
) -> Difference:
    """Let each session end once more without a service, as its next turn would; return what is then missing.

    A hook that runs out of time keeps a pointer to the transcript, which `mine` then reads.
    """
    chance = random.Random(0)  # noqa: S311 - no secret depends on it
    difference = compare(state, state, ObservedState.of(palace))
    with Commands(scratch.variables, scratch.directory) as commands:
        for writer in writers:
            bench = Workbench(writer.directory, palace, scratch.variables, chance)
            commands.run(bench, bench.stop_session(), None)
            difference = compare(state, state, ObservedState.of(palace))
            if difference:
                counts.count("sessions completed by mine")
                commands.run(bench, bench.mine_session(), None)
                difference = compare(state, state, ObservedState.of(palace))
    return difference
