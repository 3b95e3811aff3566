"""Where a selftest runs: a directory of its own with a home and palaces, never the user's, removed afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from palazzo import paths
from palazzo.client import rpc
from palazzo.errors import PalaceUnusable, ServiceUnavailable
from palazzo.features.selftest.processes import kill
from palazzo.store import filesystem

ROOM_MB = 400
"""Megabytes that must be free: the largest suite keeps some twenty palaces and backups of 2 to 10 MB."""
_STOPS_WITHIN = 15.0
_PASSED = ("PATH", "SYSTEMROOT", "TMPDIR", "LANG")


class Scratch:
    """A directory for one run. `variables` is the environment of every process that the run starts."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.home = directory / "home"
        self.home.mkdir()
        self.is_kept = False
        self._palaces: set[Path] = set()
        self._count = 0

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a user of this home alone, without a service that starts by itself."""
        variables = {name: os.environ[name] for name in _PASSED if name in os.environ}
        variables |= {"HOME": str(self.home), "USERPROFILE": str(self.home), "APPDATA": str(self.home / "AppData")}
        variables |= {"LOCALAPPDATA": str(self.home / "AppData"), "PALAZZO_SERVICE": "off"}
        variables |= {"PALAZZO_MIN_MESSAGES": "1", "PALAZZO_BACKUP_KEEP": "0"}
        root = paths.import_root()
        if not paths.has_packages(root):
            variables["PYTHONPATH"] = root
        return variables

    def new_directory(self, name: str) -> Path:
        """Create a directory with a number in its name."""
        self._count += 1
        directory = self.directory / f"{name}-{self._count}"
        directory.mkdir()
        return directory

    def palace_in(self, directory: Path) -> Path:
        """Return the path of a palace in a directory; its service is stopped at the end."""
        palace = directory / "palace.db"
        self._palaces.add(palace)
        return palace

    def stop_services(self) -> None:
        """End the services of all palaces of this run and every other process of it, and remove their sockets."""
        for palace in self._palaces:
            stop_service(palace, self.variables)
        for pid in self._find_processes():
            with contextlib.suppress(ProcessLookupError):
                kill(pid)

    def _find_processes(self) -> Iterator[int]:
        """Yield the processes whose home is this run's, such as children of killed ones; none without /proc."""
        own = f"HOME={self.home}".encode()
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if own in path.read_bytes().split(b"\0") and int(path.parent.name) != os.getpid():
                    yield int(path.parent.name)


def stop_service(palace: Path, variables: Mapping[str, str]) -> None:
    """End the service of a scratch palace at once, also one that is still starting, and remove its socket and lock."""
    endpoint = rpc.address(str(palace), variables)
    deadline = time.monotonic() + _STOPS_WITHIN
    while time.monotonic() < deadline:
        with contextlib.suppress(ServiceUnavailable, ProcessLookupError):
            stream, answer = rpc.greet(endpoint, {"want": "state", "any": True}, 5.0)
            stream.close()
            kill(int(answer["pid"]))
        if not rpc.is_starting(endpoint):
            break
        time.sleep(0.05)
    for path in (endpoint.socket, endpoint.lock):
        with contextlib.suppress(OSError):
            Path(path).unlink()


@contextlib.contextmanager
def make_scratch(beside: Path, named: Path | None) -> Iterator[Scratch]:
    """Create the directory of a run beside the palace at `beside`, or in the directory `named`; remove it at the end.

    It is kept if the run sets `is_kept`. Raises PalaceUnusable in one sentence if there is no room for it.
    """
    parent = named or _existing(beside.parent)
    scratch = Scratch(_make_directory(parent))
    try:
        yield scratch
    finally:
        scratch.stop_services()
        if not scratch.is_kept:
            shutil.rmtree(scratch.directory, ignore_errors=True)


def _make_directory(parent: Path) -> Path:
    filesystem.refuse_unsafe(parent / "palace.db")
    try:
        free = shutil.disk_usage(parent).free
        if free < ROOM_MB * 1_000_000:
            raise PalaceUnusable(
                f"{parent} has {free // 1_000_000:,} MB free, and the selftest needs {ROOM_MB}. Name another "
                "directory with --directory."
            )
        return Path(tempfile.mkdtemp(prefix="palazzo-selftest-", dir=parent))
    except OSError as error:
        raise PalaceUnusable(
            f"The selftest cannot create its directory in {parent} ({error.strerror}). Name another with --directory."
        ) from None


def _existing(directory: Path) -> Path:
    while not directory.is_dir():
        directory = directory.parent
    return directory
