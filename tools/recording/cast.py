"""A recording in asciinema's format, version 2: a header, then one event of output in each line.

https://docs.asciinema.org/manual/asciicast/v2/. Times are set by the recorder, not measured: they are the same in each
recording, and long waits are short. Knows nothing of where output comes from.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

RECORDED_AT = 1_795_687_200
"""The header's time: 2026-11-26, 10:00 UTC, which is also the time of the recorded program's clock."""


@dataclass(frozen=True, slots=True)
class Event:
    """Output at a time, in seconds from the start."""

    at: float
    text: str


@dataclass(slots=True)
class Cast:
    """A terminal's size, and what was printed on it."""

    title: str
    columns: int
    rows: int
    events: list[Event] = field(default_factory=list)
    now: float = 0.0

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def add(self, text: str) -> None:
        """Print text at the present time."""
        self.events.append(Event(round(self.now, 3), text))

    def write(self, path: Path) -> None:
        """Write the recording."""
        header = {
            "version": 2, "width": self.columns, "height": self.rows, "timestamp": RECORDED_AT, "title": self.title,
            "env": {"SHELL": "/bin/sh", "TERM": "xterm-256color"},
        }  # fmt: skip
        rows = [header, *([event.at, "o", event.text] for event in self.events)]
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def read_cast(path: Path) -> Cast:
    """Return a recording that was written before."""
    header, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    events = [Event(at, text) for at, kind, text in rows if kind == "o"]
    return Cast(header["title"], header["width"], header["height"], events, events[-1].at if events else 0.0)
