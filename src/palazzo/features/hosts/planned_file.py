"""A file that `install` writes for another program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A planned file, and how it differs from the existing one."""

    path: Path
    content: bytes
    is_program: bool
    state: FileState


FileState = Literal["new", "changed", "same", "removed"]
