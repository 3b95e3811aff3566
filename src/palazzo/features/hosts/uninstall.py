"""uninstall: take out of a host's settings what `install` wrote there, and nothing else."""

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
    """Out of what."""

    target: Annotated[str, About(f"Out of what: {', '.join(HOSTS)}.", positional=True)]
    project: Annotated[bool, About("Out of this project's files.")] = False
    user: Annotated[bool, About("Out of your own files; so it is without either.")] = False
    dry_run: Annotated[bool, About("Only say what would be removed.")] = False


@dataclass(frozen=True, slots=True)
class UninstallResult:
    """Each file that was changed, or would be."""

    target: str
    files: tuple[FileView, ...]
    dry_run: bool


def uninstall(context: Context, request: UninstallRequest) -> UninstallResult:
    """Take Palazzo's entries out of a host's settings, and leave each file as it would be without them.

    A file that was made for them goes. The palace, with all that it holds, stays.
    """
    host = ALIASES.get(request.target, request.target)
    if host not in HOSTS:
        raise UsageError(f"'{host}' is no host that is wired; there is: {', '.join(HOSTS)}.")
    removal: Callable[[Context, bool, bool], list[Edit]] = importlib.import_module(HOSTS[host]).removal
    views = apply_edits(context, removal(context, request.project, request.user), request.dry_run)
    return UninstallResult(host, tuple(views), request.dry_run)


OPERATION = Operation("uninstall", UninstallRequest, UninstallResult, uninstall)
