"""uninstall: remove from a host's settings exactly what `install` wrote there."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.features.hosts.install import ALIASES, HOSTS, FileView, apply_edits
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.features.hosts.edited_files import Edit
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class UninstallRequest:
    """The targets to uninstall from."""

    target: Annotated[
        str, About(f"The host to remove Palazzo from: {', '.join(HOSTS)}.", positional=True, values=tuple(HOSTS))
    ]
    project: Annotated[bool, About("Remove the entries from this project's files.")] = False
    user: Annotated[bool, About("Remove the entries from your own files; this is the default.")] = False
    dry_run: Annotated[bool, About("Only show what would be removed.")] = False


@dataclass(frozen=True, slots=True)
class UninstallResult:
    """Each file that was changed (or would be)."""

    target: str
    files: tuple[FileView, ...]
    dry_run: bool


def uninstall(context: Context, request: UninstallRequest) -> UninstallResult:
    """Remove Palazzo's entries from a host's settings, and leave the rest of each file as it is.

    A file that was created for them is deleted. The palace, with all its content, stays.
    """
    host = ALIASES.get(request.target, request.target)
    if host not in HOSTS:
        raise UsageError(f"'{host}' is not a host that can be wired; choose one of: {', '.join(HOSTS)}.")
    removal: Callable[[Context, bool, bool], list[Edit]] = importlib.import_module(HOSTS[host]).removal
    views = apply_edits(context, removal(context, request.project, request.user), request.dry_run)
    return UninstallResult(host, tuple(views), request.dry_run)


OPERATION = Operation(
    "uninstall",
    UninstallRequest,
    UninstallResult,
    uninstall,
    scope="admin",
    examples=("palazzo uninstall claude-code --dry-run",),
)
