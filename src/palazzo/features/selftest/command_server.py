"""A process that has loaded the program and forks for each command.

A command that starts from nothing spends nine tenths of its time on imports, so most kills would hit those. A child
that is forked here runs the same command line at once. The server itself opens no palace and has no threads. It reads
lines of JSON and answers each with one:

    {"arguments": […], "stdin": "…", "directory": "…", "kill_after": 0.01 | null, "kill_after_write": 0.01 | null}
    {"status": 0, "killed": false, "seconds": 0.05, "stderr": "…"}

The child is killed after so many seconds, or so many seconds after the first change in `directory`.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, TextIO

from palazzo.features.selftest.processes import LONGEST, kill, read_stamps

_LOOK_EVERY = 0.0005
_FIRST_MODULES = (
    *("palazzo.palace", "palazzo.faces.cli.runner"),
    *("palazzo.faces.hooks.hook_process", "palazzo.sources.mining_run"),
)
"""What commands and hooks need. The other modules are those that the first children that are not killed have loaded."""


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer requests until there are no more."""
    for name in _FIRST_MODULES:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory(prefix="palazzo-commands-") as directory:
        for line in requests:
            answer = _run(json.loads(line), Path(directory))
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


def _run(request: dict[str, Any], files: Path) -> dict[str, Any]:
    paths = {name: files / name for name in ("stdin", "stdout", "stderr", "modules")}
    paths["stdin"].write_text(request["stdin"], encoding="utf-8")
    paths["modules"].write_text("", encoding="utf-8")
    before = read_stamps(Path(request["directory"]))
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _run_child(request["arguments"], paths)
    ended, status = _wait(pid, request, before, began)
    was_killed = ended == 0
    if was_killed:
        kill(pid)
        _, status = os.waitpid(pid, 0)
        was_killed = os.WIFSIGNALED(status)
    seconds = time.monotonic() - began
    # A child that was killed may have written half of a name.
    names = [] if was_killed else paths["modules"].read_text(encoding="utf-8").split()
    for name in names:
        if name not in sys.modules:
            importlib.import_module(name)
    error = paths["stderr"].read_text(encoding="utf-8", errors="replace")
    return {
        "status": os.waitstatus_to_exitcode(status),
        "killed": was_killed,
        "seconds": seconds,
        "stderr": error[-4000:],
    }


def _wait(pid: int, request: dict[str, Any], before: list[tuple[str, int, int]], began: float) -> tuple[int, int]:
    """Wait until the child has ended or must be killed; return (its id, its status), with 0 for the latter."""
    deadline = began + (LONGEST if request["kill_after"] is None else request["kill_after"])
    directory, delay = Path(request["directory"]), request["kill_after_write"]
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        now = time.monotonic()
        if ended or now >= deadline:
            return ended, status
        if delay is not None and read_stamps(directory) != before:
            deadline, delay = min(deadline, now + delay), None
        time.sleep(_LOOK_EVERY)


def _run_child(arguments: list[str], paths: dict[str, Path]) -> None:
    """Run `palazzo` with these arguments in this process, and end it."""
    code = 3
    try:
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            descriptor = os.open(paths[name], os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(descriptor, number)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
        sys.argv = ["palazzo", *arguments]
        try:
            runpy.run_module("palazzo", run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
        names = sorted(name for name in sys.modules if name.startswith("palazzo.") and name != "palazzo.__main__")
        paths["modules"].write_text("\n".join(names), encoding="utf-8")
        sys.stderr.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
