"""Processes of a selftest: how they are killed, and how the moment of a kill is chosen. Little is imported here."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

LONGEST = 120.0
"""Seconds after which a process that was not killed counts as hung; the slowest takes 5 s on an idle machine."""
_AFTER_WRITE = 0.03
"""Seconds after the first change of a file within which half of the kills come: a transaction takes some 20 ms."""


def kill(pid: int) -> None:
    """End a process that this run started, as `kill -9` does."""
    os.kill(pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)


def read_stamps(directory: Path) -> list[tuple[str, int, int]]:
    """Return (name, size, time of the last change) of every file in a directory."""
    stamps = []
    with os.scandir(directory) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                status = entry.stat()
                stamps.append((entry.name, status.st_size, status.st_mtime_ns))
    return sorted(stamps)


@dataclass(frozen=True)
class KillTime:
    """When to kill: so many seconds after the beginning, or after the first change of a file."""

    after: float | None
    after_write: float | None


class KillTimes:
    """Chooses moments: half anywhere in the time that a step takes, half shortly after it has begun to write."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._seconds: dict[str, float] = {}

    def learn(self, name: str, seconds: float) -> None:
        """Remember how long a step of that name took when it was not killed."""
        self._seconds[name] = 0.5 * self._seconds.get(name, seconds) + 0.5 * seconds

    def choose(self, name: str) -> KillTime:
        """Return a moment for a step of that name."""
        if self._chance.random() < 0.5:
            return KillTime(self._chance.uniform(0.0, 1.1 * self._seconds.get(name, 1.0)), None)
        return KillTime(None, self._chance.uniform(0.0, _AFTER_WRITE))
