"""The process that makes vectors in the background: one for a palace, detached, and gone when it is done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.archive.conversations import called, file_rows, said

from palazzo import locks
from palazzo.client.rpc import address, make_directory
from palazzo.daemon import embedding_process
from palazzo.daemon.embedding_process import embed
from palazzo.derived import backlog
from palazzo.errors import PalazzoError
from palazzo.features.service.background_process import (
    failure_file,
    failures,
    lock_file,
    note_failure,
    start_deriving,
    start_embedding,
)
from palazzo.model import Part
from palazzo.operations.context import Context
from palazzo.operations.registry import operation
from palazzo.store import anchors, change_log, failure_fixes, vector_rows

ERROR = "Exit code 1\nE   zlib.error: incorrect header check\n1 failed"
FAILURE = [
    called(0, "Bash", "Bash\ncommand: pytest tests/test_ledger.py", "c1"),
    said(1, "tool", ERROR, [Part("tool_result", 0, len(ERROR), "", "c1", True)]),
]
PATIENCE = 480
"""Seconds for the process, which has the lowest priority, on a machine with other work."""
SOURCES = str(Path(__file__).resolve().parents[2] / "src")


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """The environment of a caller whose home directory has a space in its name."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PALAZZO_", "XDG_"))}
    return {**kept, "HOME": str(tmp_path / "a home"), "PYTHONPATH": SOURCES}


@pytest.fixture
def context(tmp_path: Path, variables: dict[str, str]) -> Iterator[Context]:
    """A palace with a note whose vectors are pending."""
    quiet = {**variables, "PALAZZO_SERVICE": "off"}
    with Context(tmp_path / "a palace" / "palace.db", tmp_path, quiet) as filing:
        remember = operation("remember")
        for n in range(40):
            remember.run(filing, remember.request(f"Note {n}. " + "The cat sat on the mat and looked at it. " * 20))
    with Context(tmp_path / "a palace" / "palace.db", tmp_path, variables) as context:
        yield context
        wait_until(lambda: not locks.is_held(lock_file(context.palace_path)))


def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def pending(context: Context) -> int:
    """How many passages wait for a vector."""
    with context.reading().database.snapshot() as connection:
        return vector_rows.count_pending(connection)


def start(context: Context, *arguments: str) -> subprocess.Popen[bytes]:
    """Run the module as a process of this test."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "palazzo.daemon.embedding_process", *(arguments or (str(context.palace_path),))],
        env=dict(context.variables),
        stderr=subprocess.PIPE,
    )


@pytest.mark.slow
def test_it_makes_what_is_pending_and_exits(context: Context) -> None:
    assert pending(context) >= 40
    with start(context) as process:
        assert process.wait(PATIENCE) == 0
    assert pending(context) == 0
    assert not locks.is_held(lock_file(context.palace_path))


@pytest.mark.slow
def test_it_goes_on_with_another_number_of_threads_when_somebody_is_answered(context: Context) -> None:
    runtime = Path(context.variables["HOME"]) / "run"
    runtime.mkdir(parents=True)
    there = {**context.variables, "XDG_RUNTIME_DIR": str(runtime)}
    where = address(str(context.palace_path), there)
    make_directory(where)
    Path(where.lock).touch()
    before = pending(context)
    with Context(context.palace_path, context.cwd, there) as beside, start(beside) as process:
        wait_until(lambda: pending(context) < before)
        os.utime(where.lock, (1, 1))
        assert process.wait(PATIENCE) == 0
    assert pending(context) == 0


def test_a_palace_that_was_deleted_is_not_made_anew(tmp_path: Path) -> None:
    palace = tmp_path / "palace.db"
    lock = locks.try_lock(lock_file(palace))
    assert lock is not None
    assert embed(palace, lock) == 0
    assert not palace.exists()
    assert not locks.is_held(lock_file(palace))


def test_one_at_a_time(context: Context) -> None:
    with locks.try_lock(lock_file(context.palace_path)) or pytest.fail("it is free"):
        with start(context) as process:
            assert process.wait(PATIENCE) == 0
        assert pending(context) >= 40
        assert not start_embedding(context)


def test_what_failed_in_a_session_and_what_it_cites_is_known_although_no_vector_can_be_made(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_rows(context.writing(), [*FAILURE, said(90, "user", "It is in src/cart.py:3, I think.")])
    monkeypatch.setenv("PALAZZO_EMBEDDER_KIND", "openai")
    monkeypatch.setenv("PALAZZO_EMBEDDER_BASE_URL", "nonsense")
    with pytest.raises(PalazzoError):
        embed(context.palace_path)
    with context.reading().database.snapshot() as connection:
        assert failure_fixes.count(connection) == 1
        assert anchors.count(connection) == 1
        assert vector_rows.any_pending(connection)


def test_what_is_said_while_many_vectors_are_made_is_taken_in_between(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn after each batch: the session comes in after the first, and the second finds it taken in."""
    seen: list[tuple[int, int]] = []

    class Slow:
        id, dimension = "test/slow", 2

        def embed(self, texts: Sequence[str]) -> Any:
            if not seen:
                file_rows(context.writing(), FAILURE)
            with context.reading().database.snapshot() as connection:
                seen.append((failure_fixes.count(connection), vector_rows.count_pending(connection)))
            return np.ones((len(texts), 2), np.float32)

        def close(self) -> None: ...

    monkeypatch.setattr(embedding_process, "_EVERY", 0.0)
    monkeypatch.setattr(Context, "open_embedder", lambda *_: Slow())
    embed(context.palace_path)
    assert [known for known, _ in seen[:2]] == [0, 1]
    assert all(left for _, left in seen[:-1])  # the last batch has titles


def test_it_is_started_once_by_many_detached_and_collected(context: Context) -> None:
    started: list[bool] = []
    waiting_for_others = set(threading.enumerate())

    def begin() -> None:
        with Context(context.palace_path, context.cwd, context.variables) as own:
            started.append(start_embedding(own))

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(started) == 1
    (waiter,) = [
        thread
        for thread in threading.enumerate()
        if thread.name == "palazzo-embedding" and thread not in waiting_for_others
    ]
    wait_until(lambda: pending(context) == 0)
    waiter.join(30)
    assert not waiter.is_alive()  # it has been waited for: no zombie stays
    assert not start_embedding(context)  # nothing is pending
    with context.writing().database.transaction() as connection:
        change_log.drop_cursor(connection, "claim")
    note_failure("claim", ValueError(), context.variables)
    assert not start_deriving(context, ["claim"])
    failure_file(context.variables, "claim").unlink()
    assert start_deriving(context, ["claim"])
    wait_until(lambda: not backlog.pending_consumers(context.reading().database, ["claim"]))


def test_the_service_setting_keeps_it_from_starting(context: Context) -> None:
    context.settings.values["service"] = type(context.settings.values["service"])(
        context.settings.values["service"].key, False, "a test"
    )
    assert not start_embedding(context)
    assert not start_deriving(context, ["claim"])


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_at_once_when_told_to_and_loses_nothing(context: Context, number: signal.Signals) -> None:
    before = pending(context)
    with start(context) as process:
        wait_until(lambda: pending(context) < before)
        process.send_signal(number)
        began = time.monotonic()
        assert process.wait(20) == -number
        assert time.monotonic() - began < 5
    assert not locks.is_held(lock_file(context.palace_path))
    verify = operation("verify")
    assert verify.run(context, verify.request()).ok
    left = pending(context)
    assert embed(context.palace_path) == left
    assert pending(context) == 0


@pytest.mark.slow
def test_why_it_failed_is_kept_for_doctor_and_not_tried_again_by_a_search(context: Context) -> None:
    broken = {
        **context.variables,
        "PALAZZO_EMBEDDER_KIND": "openai",
        "PALAZZO_EMBEDDER_BASE_URL": "nonsense",
        "PALAZZO_EMBEDDER_MODEL": "m",
    }
    with Context(context.palace_path, context.cwd, broken) as there:
        with start(there) as process:
            assert process.wait(PATIENCE) == 1
        reason = failure_file(broken)
        assert "nonsense" in reason.read_text()
        doctor = operation("doctor")
        found = {one.name: one for one in doctor.run(there, doctor.request()).findings}
        assert "nonsense" in found["background"].detail
        assert not start_embedding(there, insist=False)
    with start(context) as process:
        assert process.wait(PATIENCE) == 0
    assert not failure_file(context.variables).exists()


@pytest.mark.slow
def test_a_consumer_that_fails_is_told_as_its_own_and_keeps_no_vector_waiting(context: Context) -> None:
    with context.writing().database.transaction() as connection:
        connection.execute("DROP TABLE mention")
        connection.execute("DROP TABLE claim")
    with start(context) as process:
        assert process.wait(PATIENCE) == 0
    assert pending(context) == 0
    assert [activity for activity, _ in failures(context.variables)] == ["mention", "claim"]
    doctor = operation("doctor")
    details = [
        finding.detail for finding in doctor.run(context, doctor.request()).findings if finding.name == "background"
    ]
    assert details == [
        "finding names failed in its last run: SQLError",
        "reading claims failed in its last run: SQLError",
    ]


def test_wrong_usage(context: Context) -> None:
    with start(context, "one", "two") as process:
        assert process.stderr is not None
        assert b"usage" in process.stderr.read()
        assert process.wait(PATIENCE) == 2
