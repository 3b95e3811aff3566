"""install: make Palazzo available to other programs, by entries in their settings or by generated files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.hosts import install_skills
from palazzo.features.hosts.contract import (
    TARGETS,
    FileView,
    InstallRequest,
    InstallResult,
    OtherView,
)
from palazzo.host_names import ALIASES, INSTALLABLE
from palazzo.hosts import host_registry
from palazzo.hosts.install_plan import Plan

if TYPE_CHECKING:
    from palazzo.hosts.edited_files import Edit, FileChange
    from palazzo.operations.context import Context


def install(context: Context, request: InstallRequest) -> InstallResult:
    """Wire Palazzo into a host, or write the files that other programs need to find it."""
    from palazzo.features.hosts import install_files

    request = replace(request, target=ALIASES.get(request.target, request.target))
    if request.target not in TARGETS:
        raise UsageError(f"'{request.target}' cannot be installed; choose one of: {', '.join(TARGETS)}.")
    _check(request)
    plan = _plan(context, request)
    if not request.dry_run:
        install_files.write(plan.files)
    views = [FileView(str(entry.path), entry.state) for entry in plan.files]
    views += apply_edits(context, [*plan.edits, *_skill_edits(context, request)], request.dry_run)
    predecessor_views = tuple(OtherView(entry.name, entry.path, entry.what) for entry in plan.predecessors)
    return InstallResult(request.target, tuple(views), request.dry_run, predecessor_views, request.clean, plan.note)


def _plan(context: Context, request: InstallRequest) -> Plan:
    installer = host_registry.find_installer(request.target)
    if installer is not None:
        return installer.plan(context, request)
    if request.target == install_skills.TARGET:
        return Plan((), install_skills.NOTE)
    from palazzo.features.hosts import install_mempalace

    return install_mempalace.plan(context, request)


def _skill_edits(context: Context, request: InstallRequest) -> list[Edit]:
    """Return the edits of skills: all if they are wanted, else those that are installed."""
    directory = install_skills.directory_of(context, request.target, request.project, request.user)
    if request.skills or request.target == install_skills.TARGET:
        return install_skills.install_edits(context, install_skills.check_supported(request.target, directory))
    return [] if directory is None else install_skills.update_edits(context, directory)


def apply_edits(context: Context, edits: Sequence[Edit], dry_run: bool) -> list[FileView]:
    """Carry out edits of other programs' files, or only show what they would change."""
    from palazzo.hosts import edited_files
    from palazzo.paths import state_directory

    if dry_run:
        changes: Sequence[FileChange] = edited_files.looked_at(edits)
    else:
        changes = edited_files.carry_out(edits, state_directory(context.variables) / "install.lock")
    return [
        FileView(
            str(change.edit.path),
            change.state,
            change.edit.what,
            change.diff if dry_run else "",
            "" if change.backup is None else str(change.backup),
        )
        for change in changes
    ]


def _check(request: InstallRequest) -> None:
    if request.target != "mempalace-compat" and request.directory is not None:
        raise UsageError(
            f"'{request.target}' takes no directory; --project writes into the project of the current directory."
        )
    if request.target == "mempalace-compat" and (request.project or request.user):
        raise UsageError(f"--project and --user are for hosts ({', '.join(INSTALLABLE)}) and for skills.")
    if request.target not in INSTALLABLE and (request.clean or request.skills):
        raise UsageError(f"--clean and --skills are for hosts ({', '.join(INSTALLABLE)}).")
    if request.status_line and request.target != "claude-code":
        raise UsageError(
            "--status-line is only for claude-code: other hosts have no status line that a program can fill."
        )
