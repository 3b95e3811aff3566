"""uninstall: remove from a host's settings exactly what `install` wrote there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.hosts import install_skills
from palazzo.features.hosts.contract import REMOVABLE, UninstallRequest, UninstallResult
from palazzo.features.hosts.install import apply_edits
from palazzo.host_names import ALIASES
from palazzo.hosts import host_registry

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def uninstall(context: Context, request: UninstallRequest) -> UninstallResult:
    """Remove Palazzo's entries from a host's settings, and leave the rest of each file as it is."""
    host = ALIASES.get(request.target, request.target)
    installer = host_registry.find_installer(host)
    if installer is None and host != install_skills.TARGET:
        raise UsageError(f"'{host}' cannot be removed; choose one of: {', '.join(REMOVABLE)}.")
    edits = [] if installer is None else installer.removal(context, request.project, request.user)
    directory = install_skills.directory_of(context, host, request.project, request.user)
    edits += [] if directory is None else install_skills.removal_edits(directory)
    views = apply_edits(context, edits, request.dry_run)
    return UninstallResult(host, tuple(views), request.dry_run)
