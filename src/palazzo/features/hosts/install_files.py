"""Files generated for other programs: recognised by a mark in their first lines, replaced as a whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path

from palazzo.errors import UsageError
from palazzo.hosts.install_plan import PlannedFile

_BEGINNING = 1000
"""The bytes at the start of a file that must contain the mark."""


def plan_file(path: Path, text: str, mark: str, is_program: bool = False) -> PlannedFile:
    """Return a file to write; UsageError if an existing file has no `mark`, and so is not ours.

    `mark` is in the first lines of `text`.
    """
    content = text.encode()
    if not os.path.lexists(path):
        return PlannedFile(path, content, is_program, "new")
    old_content = _read(path) if path.is_file() and not path.is_symlink() else None
    if old_content is None or mark.encode() not in old_content[:_BEGINNING]:
        raise UsageError(
            f"{path} was not written by Palazzo; nothing was written. Choose another directory, or move the file away."
        )
    is_same = old_content == content and (not is_program or _is_program(path))
    return PlannedFile(path, content, is_program, "same" if is_same else "changed")


def write(files: Sequence[PlannedFile]) -> None:
    """Write the new or changed files; each gets its name only when it is complete."""
    for planned_file in files:
        if planned_file.state != "same":
            try:
                planned_file.path.parent.mkdir(parents=True, exist_ok=True)
                _write(planned_file)
            except OSError as error:
                raise UsageError(f"{planned_file.path} cannot be written: {error.strerror or error}.") from None


def _write(planned_file: PlannedFile) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{planned_file.path.name}.", dir=planned_file.path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(planned_file.content)
        part.chmod(0o755 if planned_file.is_program else 0o644)
        part.replace(planned_file.path)
    except BaseException:
        part.unlink()
        raise


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}; nothing was written.") from None


def _is_program(path: Path) -> bool:
    return os.name == "nt" or bool(path.stat().st_mode & stat.S_IXUSR)
