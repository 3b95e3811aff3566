"""The directories that `install` creates: recorded, so that `uninstall` removes these, once empty, and no others.

A directory shows neither who made it nor for what, and an empty one of a host or of a person must stay. The record lies
beside the lock of installations and is changed only under it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

_RECORD = "install-directories.json"


def missing_directories(directory: Path) -> list[Path]:
    """Return those of `directory` and the directories above it that do not exist, the innermost first."""
    missing: list[Path] = []
    while not directory.exists() and directory.parent != directory:
        missing.append(directory)
        directory = directory.parent
    return missing


def remove_empty(directories: Iterable[Path]) -> None:
    """Remove the directories that are empty, the innermost first; a directory that cannot be removed stays."""
    for directory in sorted(directories, key=lambda path: len(path.parts), reverse=True):
        with contextlib.suppress(OSError):  # not empty, or gone
            directory.rmdir()


def update_record(place: Path, created: Iterable[Path], cleared: Iterable[Path]) -> None:
    """Record the `created` directories, and remove recorded ones above the `cleared` files if they are empty.

    `place` is the directory of the record. Raises OSError if the record cannot be written.
    """
    file = place / _RECORD
    earlier = _read(file)
    recorded_directories = earlier | set(created)
    remove_empty(recorded_directories.intersection(parent for path in cleared for parent in path.parents))
    remaining = {path for path in recorded_directories if path.is_dir()}
    if remaining == earlier:
        return
    if not remaining:
        file.unlink(missing_ok=True)
        return
    temporary_file = file.with_name(f".{file.name}")
    temporary_file.write_text(json.dumps(sorted(map(str, remaining))), encoding="utf-8")
    temporary_file.replace(file)


def _read(file: Path) -> set[Path]:
    try:
        return set(map(Path, json.loads(file.read_bytes())))
    except (OSError, ValueError, TypeError):  # none yet, or damaged: its directories then stay
        return set()
