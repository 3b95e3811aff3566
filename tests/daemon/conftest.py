"""A user of their own: a home, a runtime directory whose name is short enough for a socket, and no service left."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.hook_machine import Machine
from tests.faces.cli.command import SOURCES

from palazzo.client import rpc
from palazzo.client.rpc import Address, Caller
from palazzo.errors import ServiceUnavailable


def wait_until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@dataclass
class User:
    """Somebody with a palace, whose services end with the test."""

    home: Path
    runtime: Path
    variables: dict[str, str]
    started: set[int] = field(default_factory=set)
    addresses: dict[str, Address] = field(default_factory=dict)

    @property
    def palace(self) -> Path:
        return self.home / "palaces" / "palace.db"

    def address(self, palace: Path | None = None) -> Address:
        """Where the service of a palace listens."""
        address = rpc.address(str(palace or self.palace), self.variables)
        return self.addresses.setdefault(address.socket, address)

    def caller(self, palace: Path | None = None) -> Caller:
        """A connected client that starts a service when there is none."""
        caller = Caller(self.address(palace), self.variables, str(self.home))
        caller.connect()
        self.pid(palace)
        return caller

    def greet(self, want: str, palace: Path | None = None, **more: object) -> dict[str, Any]:
        """What the service says to a client that wants something, and goes again."""
        stream, answer = rpc.greet(self.address(palace), {"want": want, **more})
        stream.close()
        return answer

    def pid(self, palace: Path | None = None) -> int:
        """The process that serves now."""
        pid = int(self.greet("state", palace)["pid"])
        self.started.add(pid)
        return pid

    def end(self) -> None:
        """End every service that this user may have."""
        for palace in (self.palace, *self.home.rglob("*.db")):  # hosts start services of palaces by themselves
            self.address(palace)
        for address in self.addresses.values():
            try:
                stream, answer = rpc.greet(address, {"want": "stop"})
            except ServiceUnavailable:
                continue
            self.started.add(int(answer["pid"]))
            stream.close()
        wait_until(lambda: not any(is_alive(pid) for pid in self.started))


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    """A user without a palace yet."""
    yield from made_user(tmp_path / "a home")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    """A user for tests that leave the service as it is."""
    yield from made_user(tmp_path_factory.mktemp("shared") / "a home")


def made_user(home: Path) -> Iterator[User]:
    """Make a user; afterwards, none of its processes and sockets is left."""
    home.mkdir()
    runtime = Path(tempfile.mkdtemp(prefix="pz", dir="/tmp"))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PALAZZO_", "XDG_"))}
    variables = {
        **kept,
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(runtime),
        "PYTHONPATH": SOURCES,
        "PALAZZO_WATCH_BACKGROUND": "off",
    }
    user = User(home, runtime, variables)
    try:
        with pytest.MonkeyPatch.context() as patch:
            # Whoever edits the sources while tests run would make every service give way.
            patch.setattr(rpc, "build", lambda: "0.0")
            yield user
            user.end()
        assert [address.socket for address in user.addresses.values() if Path(address.socket).exists()] == []
    finally:
        for pid in user.started:
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(runtime)
        for address in user.addresses.values():
            Path(address.lock).unlink(missing_ok=True)


@pytest.fixture
def machine(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    runtime = Path("/tmp") / f"palazzo-test-{os.getpid()}-{time.monotonic_ns() % 10**9}"
    runtime.mkdir(mode=0o700)
    one = Machine(tmp_path / "home", runtime)
    try:
        yield one
    finally:
        deadline = time.monotonic() + 20
        while (pid := one.pid()) is not None and time.monotonic() < deadline:
            os.kill(pid, signal.SIGTERM)
            time.sleep(0.1)
        shutil.rmtree(runtime, ignore_errors=True)
        Path(one.where.lock).unlink(missing_ok=True)
