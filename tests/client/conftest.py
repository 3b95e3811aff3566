"""A relay as a host starts it, and a small service that the tests can kill and start again."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from palazzo import locks
from palazzo.client import rpc

SOURCES = Path(__file__).resolve().parents[2] / "src"
MAIN = SOURCES / "palazzo" / "__main__.py"
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "claude-code", "version": "2.1.330"},
}


@pytest.fixture
def variables() -> Iterator[dict[str, str]]:
    """An environment with a home and a runtime directory of its own, short enough for the path of a socket."""
    home = Path(tempfile.mkdtemp(prefix="relay-"))
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    yield {**kept, "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PWD": str(home)}
    shutil.rmtree(home, ignore_errors=True)  # a process that embeds may be about to find out that it is over


class Services:
    """The services of one palace, one after the other. It holds their lock, so that nobody starts a real one."""

    def __init__(self, variables: dict[str, str]) -> None:
        self._variables = variables
        self.palace = Path(variables["HOME"]) / "palace.db"
        self.writes = Path(variables["HOME"]) / "writes.db"
        with contextlib.closing(sqlite3.connect(self.writes)) as database, database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("CREATE TABLE write (key PRIMARY KEY, text, by)")
        database.close()
        where = rpc.address(str(self.palace), variables)
        rpc.make_directory(where)
        self._lock = locks.try_lock(where.lock)
        self._all: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start one, and return when it listens."""
        command = [sys.executable, str(Path(__file__).with_name("service.py")), str(self.palace), str(self.writes)]
        one = subprocess.Popen(
            command, env={**self._variables, "PYTHONPATH": str(SOURCES)}, stdout=subprocess.PIPE, cwd="/"
        )
        assert one.stdout is not None
        assert one.stdout.readline() == b"listening\n"
        one.stdout.close()
        self._all.append(one)

    def kill(self) -> None:
        """End the last one as nothing else does."""
        self._all[-1].kill()
        self._all[-1].wait()

    def wait(self) -> None:
        """Wait until the last one has ended."""
        self._all[-1].wait(60)

    def give_way(self) -> subprocess.Popen[bytes]:
        """Let the last one finish what it is at, and end; return it."""
        self._all[-1].send_signal(signal.SIGUSR1)
        return self._all[-1]

    def hellos(self) -> list[dict[str, Any]]:
        """The first line of each connection, of all of them."""
        return [json.loads(line) for line in self._noted("hellos")]

    def lines(self) -> list[bytes]:
        """The other lines that all of them were told, in order, but for long ones."""
        return self._noted("lines")

    def heard(self) -> list[dict[str, Any]]:
        """The messages that all of them were told, in order."""
        return [json.loads(line) for line in self.lines()]

    def _noted(self, kind: str) -> list[bytes]:
        noted = self.writes.with_suffix(f".{kind}")
        return noted.read_bytes().splitlines(keepends=True) if noted.exists() else []

    def written(self) -> list[tuple[str, str]]:
        """The writes that are kept, with their keys."""
        with contextlib.closing(sqlite3.connect(self.writes)) as database, database:
            rows = database.execute("SELECT key, text FROM write ORDER BY rowid").fetchall()
        database.close()
        return rows

    def close(self) -> None:
        """End them all."""
        for one in self._all:
            one.kill()
            one.wait()
        if self._lock is not None:
            self._lock.release()


@pytest.fixture
def services(variables: dict[str, str]) -> Iterator[Services]:
    """A small service that runs."""
    found = Services(variables)
    found.start()
    yield found
    found.close()


class Host:
    """A program that has started `palazzo mcp`, as hosts do: lines in, lines out."""

    def __init__(self, command: Sequence[str], variables: dict[str, str], cwd: str | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            env=variables,
            cwd=cwd or variables["HOME"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.raw: list[bytes] = []
        self._said: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.raw.append(line)
            self._said.put(json.loads(line))
        self._said.put(None)

    def write(self, line: bytes) -> None:
        """Write bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def send(self, method: str, params: dict[str, Any] | None = None, name: object = None) -> None:
        """Send a request, or a notification where there is no name."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if name is not None:
            message["id"] = name
        if params is not None:
            message["params"] = params
        self.write(json.dumps(message).encode() + b"\n")

    def hear(self) -> dict[str, Any]:
        """Return the next message."""
        said = self._said.get(timeout=60)
        assert said is not None, "the relay has ended"
        return said

    def ask(self, method: str, params: dict[str, Any] | None = None, name: object = 1) -> dict[str, Any]:
        """Send a request and return what is said next, which is its answer."""
        self.send(method, params, name)
        said = self.hear()
        assert said["id"] == name
        return said

    def call(self, tool: str, name: object = 1, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its result."""
        return dict(self.ask("tools/call", {"name": tool, "arguments": arguments}, name)["result"])

    def begin(self) -> None:
        """Introduce itself."""
        self.ask("initialize", INITIALIZE, 0)
        self.send("notifications/initialized")

    def close(self) -> int:
        """Say no more; return the exit code."""
        assert self.process.stdin is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self.ended()

    def ended(self) -> int:
        """Wait for the end; return the exit code."""
        return self.process.wait(timeout=60)

    def end(self) -> None:
        """End it whatever it is at, and let go of its pipes."""
        self.process.kill()
        self.ended()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def complaints(self) -> str:
        """What it wrote to standard error; after its end."""
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()


def relay_command(palace: Path, *more: str) -> list[str]:
    """How the installed script runs the relay."""
    return [sys.executable, "-I", "-S", "-E", str(MAIN), "mcp", "--palace", str(palace), *more]


@contextlib.contextmanager
def killing(host: Host, kill: Callable[[], object], chance: random.Random, within: float) -> Iterator[None]:
    """Meanwhile kill what serves the host at random moments, each `within` seconds of the last.

    No more than three times without an answer in between: what five servers in a row did not survive is refused, and
    on a busy machine they would not have had the time to answer.
    """
    over = threading.Event()

    def run() -> None:
        heard, in_a_row = 0, 0
        while not over.wait(chance.uniform(0.0, within)):
            heard, in_a_row = len(host.raw), 0 if len(host.raw) > heard else in_a_row
            if in_a_row < 3:
                kill()
                in_a_row += 1

    killer = threading.Thread(target=run)
    killer.start()
    try:
        yield
    finally:
        over.set()
        killer.join()


Start = Callable[..., Host]


@pytest.fixture
def start(services: Services, variables: dict[str, str]) -> Iterator[Start]:
    """Start a relay with more arguments, or with other variables, or in another directory."""
    started: list[Host] = []

    def start(*more: str, cwd: str | None = None, **others: str) -> Host:
        started.append(Host(relay_command(services.palace, *more), {**variables, **others}, cwd))
        return started[-1]

    yield start
    for one in started:
        one.end()


@pytest.fixture
def host(start: Start) -> Host:
    """A host whose relay has the small service."""
    return start()
