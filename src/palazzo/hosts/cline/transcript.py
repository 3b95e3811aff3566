"""Cline's histories: sessions of its program and of its extension since version 4, and tasks of the extension before.

The program before version 3 kept tasks too, in `~/.cline/data/tasks`.
"""

from __future__ import annotations

from pathlib import Path

from palazzo.hosts.cline.cline_sessions import KIND, ClineSessions
from palazzo.hosts.task_files import TaskFiles
from palazzo.sources.formats import Collection


def _is_own(task: Path) -> bool:
    """Return whether a task's directory is not Roo Code's, which has the same files and one more."""
    return "rooveterinaryinc.roo-cline" not in task.parts and not (task / "history_item.json").exists()


COLLECTIONS: tuple[Collection, ...] = (ClineSessions(), TaskFiles(KIND, _is_own))
