"""install: make Palazzo available to other programs, by entries in their settings or by generated files."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.features.hosts.planned_file import FileState, PlannedFile
from palazzo.operations.operation import PERSON_ONLY, About, Operation

if TYPE_CHECKING:
    from palazzo.features.hosts.edited_files import Edit, FileChange
    from palazzo.features.hosts.predecessors import Predecessor
    from palazzo.operations.context import Context

HOSTS = {
    "claude-code": "palazzo.features.hosts.install_claude_code",
    "codex": "palazzo.features.hosts.install_codex",
    "opencode": "palazzo.features.hosts.install_opencode",
    "pi": "palazzo.features.hosts.install_pi",
}
"""The host modules. Each also defines `removal(context, project, user) -> list[Edit]`, for `uninstall`."""
TARGETS = {**HOSTS, "mempalace-compat": "palazzo.features.hosts.install_mempalace"}
"""All targets. Each module defines `plan(context, request) -> Plan`, which writes nothing; it is imported on demand."""
ALIASES = {"claude": "claude-code", "openai-codex": "codex"}
"""Common alternative names of hosts."""


@dataclass(frozen=True, slots=True)
class InstallRequest:
    """The target, and where to install."""

    target: Annotated[str, About(f"What to install: {', '.join(TARGETS)}.", positional=True, values=tuple(TARGETS))]
    directory: Annotated[
        Path | None, About("The directory for the files of mempalace-compat.", positional=True, option="DIR")
    ] = None
    project: Annotated[bool, About("Write into this project's files, for everyone who works on it.")] = False
    user: Annotated[bool, About("Write into your own files, for all projects; this is the default.")] = False
    clean: Annotated[bool, About("Also remove entries of other memories; they are shown first.")] = False
    status_line: Annotated[bool, About("For claude-code: also set its status line, if it has none yet.")] = False
    dry_run: Annotated[bool, About("Only show what would be written.")] = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The planned changes; `note` tells the person what to do next.

    `files` are written completely, `edits` change files of other programs. `predecessors` are entries that other memory
    programs left there.
    """

    files: tuple[PlannedFile, ...]
    note: str = ""
    edits: tuple[Edit, ...] = ()
    predecessors: tuple[Predecessor, ...] = ()


@dataclass(frozen=True, slots=True)
class FileView:
    """A file that was written (or would be), or is unchanged.

    For another program's file, the fields also give our part of it as `what`, the change (in a dry run), and the path
    of the backup of the old version.
    """

    path: str
    state: FileState
    what: str = ""
    diff: str = ""
    backup: str = ""


@dataclass(frozen=True, slots=True)
class OtherView:
    """An entry of another memory program in a host's settings: its name, the file, and what it is."""

    name: str
    path: str
    what: str


@dataclass(frozen=True, slots=True)
class InstallResult:
    """What was written (or would be); `others` were found there, and were removed if `clean` is set."""

    target: str
    files: tuple[FileView, ...]
    dry_run: bool
    others: tuple[OtherView, ...] = ()
    clean: bool = False
    note: Annotated[str, PERSON_ONLY] = ""


def install(context: Context, request: InstallRequest) -> InstallResult:
    """Wire Palazzo into a host, or write the files that other programs need to find it.

    'claude-code' and 'codex': hooks, the MCP server, and a few lines in CLAUDE.md or AGENTS.md. Existing content stays,
    in its order; a copy of each changed file is kept beside it; 'palazzo uninstall' removes everything again.
    Installing again changes nothing, unless Palazzo has moved. --clean also removes entries of other memories.

    'pi': one file in its directory of extensions, which starts the extension that is part of this installation.

    'opencode': a plugin, which is part of this installation, and the MCP server in opencode.json.

    'mempalace-compat DIR' writes the programs 'mempalace' and 'mempalace-mcp' and a Python module for clients that
    start MemPalace by these names. A file there that Palazzo did not write is never changed. In your config.toml,
    'trust.own' gets the entry 'mempalace', so that answers of a server of this name count as Palazzo's.
    """
    from palazzo.features.hosts import install_files

    request = replace(request, target=ALIASES.get(request.target, request.target))
    if request.target not in TARGETS:
        raise UsageError(f"'{request.target}' cannot be installed; choose one of: {', '.join(TARGETS)}.")
    _check(request)
    planner: Callable[[Context, InstallRequest], Plan] = importlib.import_module(TARGETS[request.target]).plan
    plan = planner(context, request)
    if not request.dry_run:
        install_files.write(plan.files)
    views = [FileView(str(entry.path), entry.state) for entry in plan.files]
    views += apply_edits(context, plan.edits, request.dry_run)
    predecessor_views = tuple(OtherView(entry.name, entry.path, entry.what) for entry in plan.predecessors)
    return InstallResult(request.target, tuple(views), request.dry_run, predecessor_views, request.clean, plan.note)


def apply_edits(context: Context, edits: Sequence[Edit], dry_run: bool) -> list[FileView]:
    """Carry out edits of other programs' files, or only show what they would change."""
    from palazzo.features.hosts import edited_files
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
    if request.target in HOSTS and request.directory is not None:
        raise UsageError(
            f"'{request.target}' takes no directory; --project writes into the project of the current directory."
        )
    if request.target not in HOSTS and (request.project or request.user or request.clean):
        raise UsageError(f"--project, --user and --clean are for hosts ({', '.join(HOSTS)}).")
    if request.status_line and request.target != "claude-code":
        raise UsageError(
            "--status-line is only for claude-code: other hosts have no status line that a program can fill."
        )


OPERATION = Operation(
    "install",
    InstallRequest,
    InstallResult,
    install,
    scope="admin",
    asks=lambda request: request.clean,
    examples=("palazzo install claude-code", "palazzo install codex --project --dry-run"),
)
