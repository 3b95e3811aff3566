"""Runs git to query a checkout, within limits of time and size; what git cannot answer is unknown.

One other module starts git, to send synchronised data: `sync/remotes/git_transport`.

A repository is untrusted: its configuration can name programs that git would start (hooks, a file system monitor, diff
drivers, signature checkers, transports), so all of these are switched off here. Git alone decides whether another
user's repository may be read (`safe.directory`), and nothing here overrides that: git itself always finds the
repository, from the checkout's root and not above it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

TIMEOUT_SECONDS = 0.2
"""Seconds that an answer waits for git."""
LARGEST = 32 * 1024 * 1024
"""The most bytes of git's output: the hashes of some 800,000 commits. Longer output is rejected completely."""

_READING = frozenset(
    [
        *("blame", "cat-file", "diff", "diff-index", "diff-tree", "for-each-ref", "log", "ls-files", "ls-tree"),
        *("merge-base", "patch-id", "rev-list", "rev-parse"),
    ]
)
"""The git commands that are used. None of them writes, and none reads files of the working directory as long as `diff`
compares two trees or has `--cached`, `diff-index` has it, and `blame` names a revision: filters that a repository
configures would run on those files.
"""
_SHOWING_PATCHES = frozenset(["diff", "diff-index", "diff-tree", "log"])
_CONVERTING_TEXT = _SHOWING_PATCHES | {"blame"}
_SETTINGS = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("protocol.allow", "never"),
    ("log.showSignature", "false"),
    ("core.quotePath", "false"),
    ("color.ui", "false"),
)
_ENVIRONMENT = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_LAST_WORDS = 0.05
"""Seconds to wait for a process that was killed. One that the system blocks (a dead network drive) is left to the
system.
"""

_running: set[subprocess.Popen[bytes]] = set()
_exit_event = threading.Event()
"""Set when this process is ending: no new process is started."""


def run(root: Path, *arguments: str, stdin: bytes = b"", timeout: float = TIMEOUT_SECONDS) -> bytes | None:
    """Return git's output about the checkout at `root`, or None if it fails, takes too long or is too large.

    `root` is a directory with `.git` in it. `arguments` begin with one of the reading commands; names and hashes from
    elsewhere must be passed in `stdin`, or after `--`. None also if git is missing, does not trust the repository's
    owner, or finds it broken.
    """
    command, *rest = arguments
    if command not in _READING:
        raise ValueError(f"git {command} is refused here: it is not one of the commands that only read.")
    program = find_program()
    if program is None or _exit_event.is_set():
        return None
    settings = [part for name, value in _SETTINGS for part in ("-c", f"{name}={value}")]
    plain = ["--no-ext-diff"] if command in _SHOWING_PATCHES else []
    plain += ["--no-textconv"] if command in _CONVERTING_TEXT else []
    line = [program, *settings, "--no-pager", "--literal-pathspecs", command, *plain, *rest]
    deadline = time.monotonic() + timeout
    try:
        process = _start(line, root, stdin)
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None
    _running.add(process)
    try:
        return _answer(process, deadline)
    finally:
        _running.discard(process)


def _answer(process: subprocess.Popen[bytes], deadline: float) -> bytes | None:
    """Return the output until the deadline; the process has ended when this returns."""
    chunks: list[bytes] = []
    assert process.stdout is not None  # noqa: S101 (it is a pipe)
    reading = threading.Thread(target=_read, args=(process.stdout, chunks), name="palazzo-git", daemon=True)
    try:
        reading.start()
    except RuntimeError:  # the system's limit on processes counts threads
        _end(process)
        return None
    reading.join(max(0.0, deadline - time.monotonic()))
    if reading.is_alive() or sum(map(len, chunks)) > LARGEST:
        _end(process)
        return None
    try:
        code = process.wait(max(_LAST_WORDS, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        _end(process)
        return None
    return b"".join(chunks) if code == 0 else None


def _read(stream: IO[bytes], chunks: list[bytes]) -> None:
    with stream:
        try:
            chunks.append(stream.read(LARGEST + 1))
        except (OSError, ValueError):
            chunks.append(b"")


def _start(line: Sequence[str], root: Path, stdin: bytes) -> subprocess.Popen[bytes]:
    """Start git with its standard input from a file, so that nothing has to be written while waiting."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= _ENVIRONMENT | {"GIT_CEILING_DIRECTORIES": str(root.parent)}
    process_options: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        process_options = {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    with tempfile.TemporaryFile() if stdin else Path(os.devnull).open("rb") as input_file:
        if stdin:
            input_file.write(stdin)
            input_file.seek(0)
        return subprocess.Popen(  # noqa: S603 - no shell, fixed commands
            line,
            cwd=root,
            env=environment,
            stdin=input_file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            **process_options,
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children, and reap it: later, if the machine is too busy for it to end now."""
    _kill(process)
    try:
        process.wait(_LAST_WORDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(RuntimeError):  # no thread is left: the next process that starts reaps it
            threading.Thread(
                target=process.wait, name="palazzo-git-end", daemon=True
            ).start()  # or it stays as a zombie


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended by itself
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def _end_all() -> None:
    _exit_event.set()
    for process in tuple(_running):
        _kill(process)


atexit.register(_end_all)


def find_program() -> str | None:
    """Return the first git on PATH, or None. Never one in the current directory, which may be untrusted."""
    for directory in os.environ.get("PATH", os.defpath).split(os.pathsep):
        program_path = shutil.which("git", path=directory) if directory and Path(directory).is_absolute() else None
        if program_path and Path(program_path).is_absolute():
            return program_path
    return None
