"""Starting the background process that computes vectors, and finding out its state.

The process is started detached, and no caller waits for it. `PALAZZO_SERVICE=off` (or the setting) prevents the start.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palazzo import locks, paths
from palazzo.client.rpc import address
from palazzo.derived.consumer_activities import BACKGROUND_ACTIVITIES
from palazzo.errors import PalazzoError
from palazzo.store import vector_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context

EMBEDDING = "palazzo.daemon.embedding_process"
EMBEDDING_ACTIVITY = "embedding"
RECENT_SECONDS = 10.0
"""Seconds after a call during which an agent counts as active."""
AFTER_FAILURE = 300.0
"""Seconds after a failure during which a search does not start another attempt."""


def lock_file(palace: Path) -> Path:
    """Return the lock file of the embedding process of a palace."""
    return palace.with_name(palace.name + ".embedding.lock")


def failure_file(variables: Mapping[str, str] = os.environ, activity: str = EMBEDDING_ACTIVITY) -> Path:
    """Return the file that records why a background activity failed last; a success deletes it."""
    return paths.state_directory(variables) / f"{activity}-failed.txt"


def failures(variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (activity, reason) for each background activity whose last run failed."""
    for activity in BACKGROUND_ACTIVITIES:
        with contextlib.suppress(OSError):
            yield activity, failure_file(variables, activity).read_text(encoding="utf-8", errors="replace").strip()


def note_failure(activity: str, error: Exception, variables: Mapping[str, str] = os.environ) -> None:
    """Record for `doctor` and hooks why an activity failed. For a bug, record only its type: its message may quote a
    text.
    """
    file = failure_file(variables, activity)
    reason = str(error) if isinstance(error, PalazzoError) else type(error).__name__
    with contextlib.suppress(OSError):
        paths.make_private_directory(file.parent)
        file.write_text(f"{reason}\n", encoding="utf-8", errors="replace")


def note_success(activity: str, variables: Mapping[str, str] = os.environ) -> None:
    """Record that an activity succeeded."""
    with contextlib.suppress(OSError):
        failure_file(variables, activity).unlink(missing_ok=True)


def note_call(palace: Path, variables: Mapping[str, str]) -> None:
    """Record a call of the palace's service, so that background work can yield to it."""
    with contextlib.suppress(OSError):
        os.utime(address(str(palace), variables).lock)


def was_called_lately(palace: Path, variables: Mapping[str, str] = os.environ) -> bool:
    """Return whether the palace's service was called in the last seconds."""
    try:
        return time.time() - Path(address(str(palace), variables).lock).stat().st_mtime < RECENT_SECONDS
    except OSError:
        return False


def start_embedding(context: Context, insist: bool = True) -> bool:
    """Start computing pending vectors unless this is disabled or already running; return whether it was started.

    Without `insist`, it is not tried again after a recent failure.
    """
    if not _may_start(context) or (not insist and _failed_lately(context.variables, EMBEDDING_ACTIVITY)):
        return False
    database = context.reading().database
    if database.keeps_back:  # the process would not see what there is to do
        database.after_commit(lambda: _start_later(context, insist))
        return False
    with database.snapshot() as connection:
        if not vector_rows.any_pending(connection):
            return False
    return _start_locked(context)


def start_deriving(context: Context, consumers: Iterable[str]) -> bool:
    """Start the background process for these consumers, which have changes to process; return whether it was started.

    It is not tried again after one of them failed recently.
    """
    activities = (EMBEDDING_ACTIVITY, *consumers)
    if not _may_start(context) or any(_failed_lately(context.variables, activity) for activity in activities):
        return False
    return _start_locked(context)


def _may_start(context: Context) -> bool:
    return context.settings.flag("service") and not locks.is_held(lock_file(context.palace_path))


def _start_locked(context: Context) -> bool:
    """Start the process, which inherits its lock.

    The lock is held from before the process is there: of those who file at the same moment, one starts it.
    """
    try:
        lock = locks.try_lock(lock_file(context.palace_path))
    except OSError:
        return False  # a directory that cannot be written to: nothing could be kept
    if lock is None:
        return False
    with lock:
        return _start([sys.executable, "-P", "-m", EMBEDDING, str(context.palace_path)], lock.to_inherit, context)


def _start_later(context: Context, insist: bool) -> None:
    start_embedding(context, insist)


def _failed_lately(variables: Mapping[str, str], activity: str) -> bool:
    try:
        return time.time() - failure_file(variables, activity).stat().st_mtime < AFTER_FAILURE
    except OSError:
        return False


def _start(command: list[str], handles: tuple[int, ...], context: Context) -> bool:
    import subprocess  # not at the top: many commands import this module and start nothing

    process_options: dict[str, Any] = {"start_new_session": True, "pass_fds": handles}
    if sys.platform == "win32":
        process_options = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    try:
        process = subprocess.Popen(  # noqa: S603 - this Python, and this package
            [*command, *map(str, handles)],
            cwd=context.palace_path.parent,  # not the caller's directory, which may be on its way out
            env=_environment(context.variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **process_options,
        )
    except OSError:
        return False  # no room for another process: the next call tries again
    # A caller that lives on must collect it, or it stays as a zombie when it is done.
    threading.Thread(target=process.wait, name="palazzo-embedding", daemon=True).start()
    return True


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's environment, with import paths that are valid in any working directory.

    Callers of a service do not send import paths: then those are used by which this process found the package.
    """
    environment = dict(variables)
    python_path = environment.get("PYTHONPATH") or os.environ.get("PYTHONPATH", "")
    if python_path:
        parts = python_path.split(os.pathsep)
        environment["PYTHONPATH"] = os.pathsep.join(str(Path(part).absolute()) for part in parts if part)
    return environment
