"""Progress bar on standard error, for work that takes longer than a second while a person watches."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from palazzo.faces.cli import error_messages
from palazzo.operations.context import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

BAR_DELAY = 1.0
"""Seconds before the bar appears."""


class ProgressBar:
    """Shows the progress of an operation; `last` is its last report."""

    def __init__(self) -> None:
        self.last: Progress | None = None
        self._began = time.monotonic()
        self._bars: Bars | None = None
        self._tasks: dict[str, TaskID] = {}

    def show(self, progress: Progress) -> None:
        """Store `progress`, and draw it when it is time."""
        self.last = progress
        if time.monotonic() - self._began < BAR_DELAY or not sys.stderr.isatty():
            return
        bars = self._bars or self._start()
        if progress.what not in self._tasks:
            self._tasks[progress.what] = bars.add_task(progress.what.capitalize(), total=progress.total, detail="")
        task: Any = self._tasks[progress.what]
        bars.update(
            task, completed=progress.done, total=progress.total, detail=error_messages.one_line(progress.detail)
        )

    def close(self) -> None:
        """Remove the bar."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None
            self._tasks.clear()

    def _start(self) -> Bars:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[detail]}", markup=False),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bars.start()
        return self._bars
