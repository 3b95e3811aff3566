"""For every test: the repository's root on the path, a palace on disk, and an embedder that needs no model."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.archive.conversations import Ticking
from tests.index.hashed_words import HashedWords

from palazzo import locks
from palazzo.client import service_address
from palazzo.palace import Palace
from palazzo.security.note_taint import AGENTS_VARIABLES

for name in [name for name in os.environ if name.startswith("PYTHON")]:
    del os.environ[name]
"""A child of a test runs as on a machine where nobody set these: PYTHONUNBUFFERED hides that it does not flush."""

NO_DEADLINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""How long an example takes says how busy the machine is."""
settings.register_profile("palazzo", NO_DEADLINE, derandomize=True)
settings.register_profile("new-examples", NO_DEADLINE, derandomize=False)
settings.load_profile("palazzo")
"""The same examples at each run, so that what fails is what a change did; others with `--hypothesis-profile`."""


RENDEZVOUS = Path(service_address.address("palace.db", os.environ).directory)
"""Where services listen, also this person's own: on POSIX the place depends on no variable that a test could set."""
AT_START = pytest.StashKey[frozenset[Path]]()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Note which services have listened before the tests, and which sessions have flags beside their sockets."""
    session.stash[AT_START] = frozenset(RENDEZVOUS.rglob("*"))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove the locks and sockets of services that tests have started, and the flags that tests have set.

    A service that still runs keeps its own.
    """
    if hasattr(session.config, "workerinput"):  # the others may still be at work
        return
    files_at_start = session.stash[AT_START]
    for lock in set(RENDEZVOUS.glob("*.lock")) - files_at_start:
        file_lock = locks.try_lock(lock)
        if file_lock is not None:
            with file_lock:
                lock.with_suffix(".sock").unlink(missing_ok=True)
                lock.unlink()
    for flag in set(RENDEZVOUS.glob("sessions/*")) - files_at_start:
        flag.unlink(missing_ok=True)


SLOW_LIMIT = 1_800
"""Seconds for one slow test of the size that CI runs. `--timeout 0` sets no limit, for larger ones."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give slow tests more time, unless a limit is named on the command line."""
    if config.getoption("timeout") is not None:
        return
    for item in items:
        if item.get_closest_marker("slow") is not None and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(SLOW_LIMIT))


NEEDED_PROGRAMS = ("git", "ps")
"""Programs that tests run to look at what Palazzo does, and that a machine need not have."""


@contextmanager
def skipping_without_programs() -> Iterator[None]:
    """Skip a test that runs one of those programs where it is not installed; with PALAZZO_CI it fails."""
    try:
        yield
    except FileNotFoundError as error:
        name = str(error.filename)
        if name not in NEEDED_PROGRAMS or shutil.which(name) is not None or "PALAZZO_CI" in os.environ:
            raise
        pytest.skip(f"NOT RUN: {name} is not installed.")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Iterator[None]:
    with skipping_without_programs():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    with skipping_without_programs():
        return (yield)


@pytest.fixture(autouse=True)
def a_persons_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests: what they type is a person's unless a test says otherwise."""
    for name in AGENTS_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def interruptible_children() -> Iterator[None]:
    """Start children that SIGINT interrupts: they inherit that it is ignored where the tests run in the background."""
    earlier_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, earlier_handler)


@pytest.fixture
def embedder() -> HashedWords:
    return HashedWords()


@pytest.fixture
def palace_path(tmp_path: Path) -> Path:
    return tmp_path / "palace" / "palace.db"


@pytest.fixture
def open_palace(palace_path: Path, embedder: HashedWords) -> Iterator[Callable[[], Palace]]:
    """Opens the same palace once more, as another process would."""
    opened: list[Palace] = []
    clock = Ticking()

    def another() -> Palace:
        opened.append(Palace.open(palace_path, embedder=lambda: embedder, clock=clock))
        return opened[-1]

    yield another
    for palace in opened:
        palace.close()


@pytest.fixture
def palace(open_palace: Callable[[], Palace]) -> Palace:
    return open_palace()
