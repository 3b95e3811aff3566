"""A host without a person: a process for each turn, which goes on with the session."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.end_to_end.machine import NOWHERE

PATIENCE = 180
"""Seconds that a turn may take before the process is ended; the script answers at once."""


class TurnProcess:
    """A person's host in one project. A subclass says what its command line and its variables are."""

    prompt_option: tuple[str, ...] = ("-p",)
    own_variables: tuple[str, ...] = ()
    """Beginnings of the names of the host's own variables, which are not taken from the machine."""
    instructions = "## Memory: Palazzo"
    """What the model reads of the memory before it is asked: the heading of our block, unless a subclass has others."""

    def __init__(
        self, program: tuple[str, ...], project: Path, around: dict[str, str], variables: dict[str, str]
    ) -> None:
        self._program, self._project = program, project
        inherited = {name: value for name, value in around.items() if not name.startswith(self.own_variables)}
        self._variables = {**inherited, **NOWHERE, **variables, "NO_COLOR": "1", "PWD": str(project)}
        self._is_continued = False

    def begin(self) -> None:
        """Let the next turn be the first of a session."""
        self._is_continued = False

    def turn(self, prompt: str) -> str:
        """Send a prompt to the session; what the program printed."""
        done = subprocess.run(
            [*self._program, *self.prompt_option, prompt, *self.options(self._is_continued)],
            cwd=self._project, env=self._variables, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (prompt, done.stdout[-2_000:], done.stderr[-2_000:])
        self._is_continued = True
        return done.stdout

    @property
    def transcripts(self) -> list[Path]:
        """The files in which the host keeps its sessions."""
        raise NotImplementedError

    @property
    def session_count(self) -> int:
        """How many sessions it keeps: one in each file, unless a subclass says otherwise."""
        return len(self.transcripts)

    def options(self, is_continued: bool) -> list[str]:
        """Return the options of a turn, which begins a session or continues the last one."""
        raise NotImplementedError
