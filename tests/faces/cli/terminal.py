"""Running a program at a terminal: the command to its end, or any program while keys are pressed. POSIX only."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.faces.cli.command import environment

DEADLINE = 60.0


class Terminal:
    """A program at a terminal."""

    def __init__(self, ours: int, process: subprocess.Popen[bytes]) -> None:
        self._ours, self.process = ours, process
        self.output = bytearray()

    def wait_for(self, text: str) -> str:
        """Wait until a text is shown; return all that was shown since the last call."""
        end = time.monotonic() + DEADLINE
        while text.encode() not in self.output and self._read():
            assert time.monotonic() < end, self.output.decode(errors="replace")
        shown = self.output.decode(errors="replace")
        self.output.clear()
        assert text in shown, shown
        return shown

    def wait_for_end(self) -> tuple[int, str]:
        """Wait until the program has ended; return its exit code and all that was shown since the last call."""
        while self._read():
            pass
        return self.end(), self.output.decode()

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._ours, keys.encode())

    def modes(self) -> list[object]:
        """Return how the terminal is set."""
        return termios.tcgetattr(self._ours)[:4]

    def end(self) -> int:
        """Return the exit code."""
        return self.process.wait(DEADLINE)

    def _read(self) -> bool:
        """Read what is shown within a second; return whether the program may show more."""
        if not select.select([self._ours], [], [], 1.0)[0]:
            return True
        try:
            part = os.read(self._ours, 65_536)
        except OSError:  # the program has ended
            return False
        self.output += part
        return bool(part)


@contextmanager
def program_at_terminal(
    command: Sequence[str], cwd: Path, variables: Mapping[str, str], columns: int = 80, lines: int = 24
) -> Iterator[Terminal]:
    """Run a program with a terminal of a size as its input, output and controlling terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-c", _TAKE_TERMINAL, *command],
        stdin=theirs, stdout=theirs, stderr=theirs, env=dict(variables), cwd=cwd, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(theirs)
        try:
            yield Terminal(ours, process)
        finally:
            process.kill()
            os.close(ours)


_TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
)
"""A shell reads keys only from its controlling terminal; a process that leads a session takes it before it starts."""


def at_terminal(home: Path, *arguments: str, module: str = "palazzo.faces.cli", answer: str = "") -> tuple[int, str]:
    """Run the command with a terminal as its input and output; return its exit code and all that was shown."""
    variables = environment({"HOME": str(home), "PALAZZO_SERVICE": "off", "COLUMNS": "200", "TERM": "dumb"})
    with program_at_terminal([sys.executable, "-m", module, *arguments], home, variables) as screen:
        if answer:
            screen.press(f"{answer}\n")
        return screen.wait_for_end()
