"""Roo Code's history: tasks in the form that it has in common with Cline (`hosts/task_files`).

A task's directory is Roo Code's by the name of the extension in its path, or by `history_item.json`, which versions
since 2026 write beside the messages.
"""

from __future__ import annotations

from pathlib import Path

from palazzo.hosts.task_files import TaskFiles
from palazzo.sources.formats import Collection

KIND = "roo-code"


def _is_own(task: Path) -> bool:
    return "rooveterinaryinc.roo-cline" in task.parts or (task / "history_item.json").exists()


COLLECTIONS: tuple[Collection, ...] = (TaskFiles(KIND, _is_own),)
