"""The processes that a selftest starts and kills: commands, hooks, and a service that carries out calls."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from palazzo import paths
from palazzo.client import rpc
from palazzo.errors import PalazzoError, ServiceUnavailable
from palazzo.features.selftest.processes import LONGEST, KillTime, read_stamps
from palazzo.features.selftest.steps import Step, Workbench, command_line
from palazzo.operations import registry
from palazzo.operations.serialisation import to_wire

_LOOK_EVERY = 0.001
_START_LOOK_EVERY = 0.05
_STARTS_WITHIN = 300.0
"""Seconds within which a service must answer: on a machine with a load of 15 on two cores it took more than 60."""


@dataclass(frozen=True)
class Outcome:
    """How a step ended: acknowledged, killed, or with an error, whose class may be known."""

    is_acknowledged: bool
    was_killed: bool
    seconds: float
    error: str = ""
    kind: str = ""


def arguments_of(bench: Workbench, step: Step) -> list[str]:
    """Return the arguments of `palazzo` for a step."""
    if step.name == "hook":
        return ["hook", "claude-code", "Stop", "--palace", str(bench.palace)]
    arguments = command_line(step.operation, step.request)
    separator = arguments.index("--") if "--" in arguments else len(arguments)
    return [*arguments[:separator], "--palace", str(bench.palace), *arguments[separator:]]


def hook_command() -> list[str]:
    """Return the command of the hook at the end of a turn, as the installed script runs it."""
    main = Path(paths.import_root()) / "palazzo" / "__main__.py"
    return [sys.executable, "-I", "-S", "-E", str(main), "hook", "claude-code", "Stop"]


def input_of(bench: Workbench, step: Step) -> str:
    """Return the standard input of a step: the payload of a hook."""
    if step.name != "hook":
        return ""
    payload = {
        "session_id": bench.transcript.stem,
        "cwd": str(bench.directory),
        "transcript_path": str(bench.transcript),
        "hook_event_name": "Stop",
    }
    return json.dumps(payload)


class Commands:
    """Runs commands: forked from a server that has loaded the program, or started from nothing."""

    def __init__(self, variables: Mapping[str, str], directory: Path) -> None:
        self._variables, self._directory = dict(variables), directory
        self._server: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.kill()
            self._server.communicate()

    def run(self, bench: Workbench, step: Step, kill_time: KillTime | None, *, is_cold: bool = False) -> Outcome:
        """Run a step as a command; kill it if there is a `kill_time`."""
        if is_cold or not hasattr(os, "fork"):
            return self._run_cold(bench, step, kill_time)
        request = {
            "arguments": arguments_of(bench, step),
            "stdin": input_of(bench, step),
            "directory": str(bench.palace.parent),
            "kill_after": None if kill_time is None else kill_time.after,
            "kill_after_write": None if kill_time is None else kill_time.after_write,
        }
        server = self._start_server()
        assert server.stdin is not None  # noqa: S101 - for the type checker: both are pipes
        assert server.stdout is not None  # noqa: S101
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        line = server.stdout.readline()
        if not line:
            raise PalazzoError("The process from which the selftest starts commands has ended by itself.")
        answer = json.loads(line)
        return _outcome(answer["status"], answer["killed"], answer["seconds"], answer["stderr"], kill_time is not None)

    def _start_server(self) -> subprocess.Popen[str]:
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, "-P", "-m", "palazzo.features.selftest.command_server"],
                env=self._variables,
                cwd=self._directory,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self._server

    def _run_cold(self, bench: Workbench, step: Step, kill_time: KillTime | None) -> Outcome:
        command = [sys.executable, "-P", "-m", "palazzo"]
        if step.name == "hook":
            command = hook_command()[:-3]
        began = time.monotonic()
        process = subprocess.Popen(  # noqa: S603 - this Python, and this package
            [*command, *arguments_of(bench, step)],
            env=self._variables,
            cwd=bench.directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        errors: list[bytes] = []
        has_ended = threading.Event()

        def wait() -> None:
            errors.append(process.communicate(input_of(bench, step).encode())[1])
            has_ended.set()

        waiting = threading.Thread(target=wait)
        waiting.start()
        try:
            wait_for_kill(kill_time, bench.palace.parent, has_ended)
        finally:
            was_killed = process.poll() is None
            process.kill()
            waiting.join()
        seconds, text = time.monotonic() - began, errors[0].decode("utf-8", "replace")
        return _outcome(process.returncode, was_killed, seconds, text, kill_time is not None)


def wait_for_kill(kill_time: KillTime | None, directory: Path, has_ended: threading.Event) -> None:
    """Return at the moment of the kill, or when the step has ended."""
    if kill_time is None or kill_time.after is not None:
        has_ended.wait(LONGEST if kill_time is None else kill_time.after)
        return
    before, deadline = read_stamps(directory), time.monotonic() + LONGEST
    while not has_ended.is_set() and time.monotonic() < deadline and read_stamps(directory) == before:
        time.sleep(_LOOK_EVERY)
    has_ended.wait(kill_time.after_write)


def _outcome(status: int, was_killed: bool, seconds: float, stderr: str, was_wanted: bool) -> Outcome:
    if status == 0:
        return Outcome(True, False, seconds)
    if was_killed:
        return Outcome(False, was_wanted, seconds, "" if was_wanted else f"it hung for {LONGEST:.0f} s")
    last = stderr.strip().rpartition("\n")[2]
    try:
        error = json.loads(last)["error"]
        return Outcome(False, False, seconds, str(error["message"]), str(error["kind"]))
    except (ValueError, KeyError, TypeError):
        return Outcome(False, False, seconds, last or f"it ended with {status} and without a word")


class ServiceVictim:
    """A service process of one palace, and a client that calls it."""

    def __init__(self, palace: Path, variables: Mapping[str, str]) -> None:
        self._variables = {**variables, "PALAZZO_SERVICE": "on"}
        self._endpoint = rpc.address(str(palace), self._variables)
        self.palace = palace
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the service and wait until it answers."""
        rpc.make_directory(self._endpoint)
        command = [sys.executable, "-P", "-m", "palazzo.daemon.service", "--stay", str(self.palace)]
        self._process = subprocess.Popen(  # noqa: S603 - this Python, and this package
            command,
            env=self._variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + _STARTS_WITHIN
        while True:
            try:
                rpc.connect(self._endpoint, {"want": "state"}).close()
            except ServiceUnavailable:
                if time.monotonic() > deadline:
                    raise PalazzoError(f"The service of the scratch palace {self.palace} did not start.") from None
                time.sleep(_START_LOOK_EVERY)
            else:
                return

    @property
    def pid(self) -> int:
        """The process ID of the service; 0 if it does not run."""
        return 0 if self._process is None else self._process.pid

    def kill(self) -> None:
        """End the service at once, as `kill -9` does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def call(self, bench: Workbench, step: Step, key: str) -> Outcome:
        """Let the service carry out a step."""
        began = time.monotonic()
        request = to_wire(registry.operation(step.operation).request(**step.request))
        try:
            with rpc.Caller(self._endpoint, self._variables, str(bench.directory), starts=False) as caller:
                answer: dict[str, Any] = caller.call(step.operation, request, key)
        except ServiceUnavailable as error:
            return Outcome(False, True, time.monotonic() - began, str(error))
        seconds = time.monotonic() - began
        if "error" in answer:
            return Outcome(False, False, seconds, answer["error"]["message"], answer["error"]["kind"])
        return Outcome(True, False, seconds)

    def call_and_kill(self, bench: Workbench, step: Step, key: str, kill_time: KillTime) -> Outcome:
        """Let the service carry out a step, and kill it meanwhile."""
        outcomes: list[Outcome] = []
        has_ended = threading.Event()

        def call() -> None:
            outcomes.append(self.call(bench, step, key))
            has_ended.set()

        calling = threading.Thread(target=call)
        calling.start()
        try:
            wait_for_kill(kill_time, bench.palace.parent, has_ended)
        finally:
            self.kill()
            calling.join()
        return outcomes[0]

    @contextlib.contextmanager
    def running(self) -> Iterator[ServiceVictim]:
        """Start the service for a block, and end it afterwards if it still runs."""
        try:
            self.start()
            yield self
        finally:
            self.kill()
