"""install: let other programs find Palazzo, by files that are written for them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.errors import UsageError
from palazzo.operations.operation import PERSON_ONLY, About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context

FileState = Literal["new", "changed", "same"]
TARGETS = {"mempalace-compat": "palazzo.operations.install_mempalace"}
"""Each module defines `plan(context, request) -> Plan`, which writes nothing; it is imported when it is asked for."""


@dataclass(frozen=True, slots=True)
class InstallRequest:
    """Into what, and where."""

    target: Annotated[str, About(f"What to install: {', '.join(TARGETS)}.", positional=True)]
    directory: Annotated[Path | None, About("Where the files go.", positional=True, option="DIR")] = None
    dry_run: Annotated[bool, About("Only say what would be written.")] = False


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file as it is to be, and how that differs from what is there."""

    path: Path
    content: bytes
    is_program: bool
    state: FileState


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be written; `note` says what a person does next."""

    files: tuple[PlannedFile, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class FileView:
    """A file that was written (or would be), or is the same as it was."""

    path: str
    state: FileState


@dataclass(frozen=True, slots=True)
class InstallResult:
    """What was written, or would be."""

    target: str
    files: tuple[FileView, ...]
    dry_run: bool
    note: Annotated[str, PERSON_ONLY] = ""


def install(context: Context, request: InstallRequest) -> InstallResult:
    """Write the files by which other programs find Palazzo. A file that Palazzo did not write is never touched.

    'mempalace-compat DIR' writes the programs 'mempalace' and 'mempalace-mcp' and a Python module for clients that
    start MemPalace by these names. Doing it again changes nothing, but where Palazzo has moved.
    """
    from palazzo.operations import install_files

    if request.target not in TARGETS:
        raise UsageError(f"'{request.target}' is nothing that can be installed; there is: {', '.join(TARGETS)}.")
    planning: Callable[[Context, InstallRequest], Plan] = importlib.import_module(TARGETS[request.target]).plan
    plan = planning(context, request)
    if not request.dry_run:
        install_files.write(plan.files)
    views = tuple(FileView(str(one.path), one.state) for one in plan.files)
    return InstallResult(request.target, views, request.dry_run, plan.note)


OPERATION = Operation("install", InstallRequest, InstallResult, install)
