"""Running the command: in this process, and as people do."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from palazzo.faces.cli import main

SOURCES = str(Path(__file__).resolve().parents[3] / "src")


@dataclass(frozen=True)
class Ran:
    """What a command gave."""

    code: int
    out: str
    error: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON document and nothing else."""
        return json.loads(self.out)


class Command:
    """`palazzo`, run in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Ran:
        self._capsys.readouterr()
        code = main(list(arguments))
        captured = self._capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    def json(self, *arguments: str) -> Any:
        """Run with --json and return the document."""
        ran = self(*arguments, "--json")
        assert ran.code == 0, ran.error
        return ran.json


def spawn(*arguments: str, stdin: bytes = b"", cwd: Path | None = None, **variables: str) -> Ran:
    """Run the command as another process."""
    done = subprocess.run(
        [sys.executable, "-m", "palazzo.faces.cli", *arguments],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=environment(variables),
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """This process's environment, with the package on the path."""
    return {**os.environ, "PYTHONPATH": SOURCES, **variables}


def interrupt_until_ended(process: subprocess.Popen[bytes]) -> None:
    """Interrupt as a person does, who presses the keys again.

    A signal between a question's last letter and the system call that reads the answer is handled only after that call.
    """
    for _ in range(60):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1)
            return
    process.kill()
