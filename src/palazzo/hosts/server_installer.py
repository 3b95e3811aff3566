"""The installer of a host with the MCP server in its settings, instructions, and at most one kind of files of hooks.

Such a host is a few lines of data: `SERVERS` (`json_servers`) in its module `server`, and `Places` in its `install`.
With hooks it also has `WIRING` (`hook_wiring`), places for their files, and the format of these (`flat_hooks`, if it
names no other).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.hosts import flat_hooks, host_files, install_host
from palazzo.hosts.edited_files import Edit
from palazzo.hosts.hook_format import HookFormat
from palazzo.hosts.hook_wiring import PROGRAM, HostHooks
from palazzo.hosts.host_descriptor import Host
from palazzo.hosts.host_files import HostFiles
from palazzo.hosts.install_host import HOOKS, SERVER
from palazzo.hosts.install_plan import InstallOptions, InstallPlace, Plan
from palazzo.hosts.installer import Findings, Installer, no_findings
from palazzo.hosts.json_servers import Servers
from palazzo.hosts.memory_block import SERVER_BODY
from palazzo.hosts.own_program import own_program

_APPLICATIONS = "$APPLICATIONS"
"""The directory in which the platform's desktop programs keep settings; a place may begin with it."""
_CONFIGURATION = "$CONFIGURATION"
"""`$XDG_CONFIG_HOME`, or `~/.config`; a place may begin with it."""
_DOCUMENTS = "$DOCUMENTS"
"""The person's directory of documents, which has another name in other languages; a place may begin with it."""
_DOCUMENTS_LINE = re.compile(r'^XDG_DOCUMENTS_DIR="\$HOME/(.+)"$', re.MULTILINE)


@frozen
class Places:
    """A host's files, below `directory` or with a beginning such as `~/`; those of a project are below its root.

    `directory` exists if the host is installed; `variable` moves it. A place is empty if the host has no such file.
    `older` are the places of older versions: they are used if only their directory exists, and cleared with the others.
    `note` tells a person what the host needs besides.
    """

    directory: str
    servers: str
    instructions: str = ""
    project_servers: str = ""
    project_instructions: str = ""
    variable: str = ""
    hooks: str = ""
    project_hooks: str = ""
    older: Places | None = None
    note: str = ""


def server_installer(
    host: Host,
    servers: Servers,
    places: Places,
    wiring: HostHooks | None = None,
    form: HookFormat = flat_hooks.FORMAT,
    findings: Findings = no_findings,
) -> Installer:
    """Return the installer of a host by its data."""
    host_hooks = wiring or HostHooks(host.name, host.title, True, ())
    return Installer(
        host_hooks,
        partial(_files_of, places),
        partial(_plan, host, servers, places, host_hooks, form),
        partial(_removal, host, servers, places, host_hooks, form),
        our_hooks=(lambda text: form.our_hooks(text, host.name)) if wiring else (lambda text: ()),
        servers=servers.servers,
        hook_files=lambda files: _hook_files(host_hooks, form, files.hooks),
        findings=findings,
        runs_twice=wiring is not None,
    )


def _plan(
    host: Host,
    servers: Servers,
    places: Places,
    wiring: HostHooks,
    form: HookFormat,
    context: InstallPlace,
    request: InstallOptions,
) -> Plan:
    """Return the edits to make; UsageError if the host is not found here, or if it has no files in a project."""
    project = _project(host, places, context, request.project, request.user)
    files = _files_of(places, context.variables, project)
    if project is None:
        host_files.check_present(host.title, host.program, files, context.variables)
    is_shared = project is not None
    program = PROGRAM if is_shared else own_program(context.variables)
    more = [] if is_shared else install_host.palace_option(context)
    entry = servers.entry(program, ["mcp", *more])
    edits = [Edit(files.servers, SERVER, lambda text: servers.format.with_server(text, entry), not is_shared)]
    edits += install_host.write_instructions(host.name, files, SERVER_BODY, is_shared)
    hooks = _hook_edits(wiring, form, files.hooks, program, more, not is_shared)
    predecessors = install_host.predecessors_in(files, servers.format)
    notes = [
        *install_host.remarks(context, is_shared),
        f"Next: restart {host.title}, so that it starts the MCP server.",
        *([places.note] if places.note and not is_shared else ()),
    ]
    if request.clean:
        edits = install_host.add_cleanup(edits, servers.format)
        hooks = install_host.add_cleanup(hooks, servers.format) if form.is_shared else hooks
    return Plan((), "\n".join(notes), (*edits, *hooks), tuple(predecessors))


def _hook_edits(
    wiring: HostHooks, form: HookFormat, path: Path, program: str, more: list[str], private: bool
) -> list[Edit]:
    """Return the edits of the files of hooks: one, or one for each event."""

    def edit(file: Path, part: HostHooks) -> Edit:
        change = partial(_with_hooks, form, part, program, more)
        return Edit(file, HOOKS, change, private, is_program=form.has_scripts)

    if form.has_scripts:
        return [edit(path / hook.name, replace(wiring, hooks=(hook,))) for hook in wiring.hooks]
    return [edit(path, wiring)] if wiring.hooks else []


def _with_hooks(form: HookFormat, wiring: HostHooks, program: str, more: list[str], text: str | None) -> str:
    return form.with_hooks(text, wiring, program, more)


def _hook_files(wiring: HostHooks, form: HookFormat, path: Path) -> list[Path]:
    """Return the files of hooks, of which not all must exist."""
    return [path / hook.name for hook in wiring.hooks] if form.has_scripts else [path]


def _removal(
    host: Host,
    servers: Servers,
    places: Places,
    wiring: HostHooks,
    form: HookFormat,
    context: InstallPlace,
    project: bool,
    user: bool,
) -> list[Edit]:
    """Return the edits that remove everything again."""
    root = _project(host, places, context, project, user)
    files = _files_of(places, context.variables, root)
    server_files = [files.servers]
    if root is None and places.older is not None:
        both = (_own_files(place, context.variables).servers for place in (places, places.older))
        server_files += [path for path in both if path != files.servers and path.exists()]
    change = servers.format.remove_servers
    edits = [Edit(path, SERVER, lambda text: change(text, servers.is_ours)) for path in server_files]
    edits += install_host.remove_instructions(host.name, files)
    hook_files = _hook_files(wiring, form, files.hooks) if wiring.hooks else []
    return edits + [Edit(path, HOOKS, lambda text: form.without_hooks(text, host.name)) for path in hook_files]


def _project(host: Host, places: Places, context: InstallPlace, project: bool, user: bool) -> Path | None:
    root = install_host.scope(context, project, user)
    if root is not None and not places.project_servers:
        raise UsageError(f"{host.title} has no MCP servers of a project; run the command without --project.")
    return root


def _files_of(places: Places, variables: Mapping[str, str], project: Path | None = None) -> HostFiles:
    """Return the host's files; those of the project if one is given and the host has files there."""
    files = _own_files(places, variables)
    if places.older is not None and not files.directory.is_dir():
        older = _own_files(places.older, variables)
        files = older if older.directory.is_dir() else files
    if project is None or not places.project_servers:
        return files
    servers = project / places.project_servers
    instructions = project / places.project_instructions if places.project_instructions else None
    hooks = project / places.project_hooks if places.project_hooks else servers
    return HostFiles(files.directory, hooks, servers, instructions)


def _own_files(places: Places, variables: Mapping[str, str]) -> HostFiles:
    """Return a person's own files at these places."""
    custom_directory = variables.get(places.variable, "") if places.variable else ""
    directory = Path(custom_directory).expanduser() if custom_directory else _path(places.directory, variables)
    servers = directory / _path(places.servers, variables)
    instructions = directory / _path(places.instructions, variables) if places.instructions else None
    hooks = directory / _path(places.hooks, variables) if places.hooks else servers
    return HostFiles(directory, hooks, servers, instructions)


def _path(place: str, variables: Mapping[str, str]) -> Path:
    """Return the path of a place; a relative path if it has no beginning that is known."""
    start, _, rest = place.partition("/")
    starts = {
        "~": host_files.home,
        _APPLICATIONS: _applications,
        _CONFIGURATION: _configuration,
        _DOCUMENTS: _documents,
    }
    return starts[start](variables) / rest if start in starts else Path(place)


def _applications(variables: Mapping[str, str]) -> Path:
    home = host_files.home(variables)
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(variables.get("APPDATA") or home / "AppData" / "Roaming")
    return _configuration(variables)


def _configuration(variables: Mapping[str, str]) -> Path:
    return Path(variables.get("XDG_CONFIG_HOME") or host_files.home(variables) / ".config")


def _documents(variables: Mapping[str, str]) -> Path:
    """Return the directory of documents, as `xdg-user-dir DOCUMENTS` names it on Linux."""
    text = host_files.text_of(_configuration(variables) / "user-dirs.dirs") if sys.platform == "linux" else ""
    names = _DOCUMENTS_LINE.findall(text)
    return host_files.home(variables) / (names[-1] if names else "Documents")
