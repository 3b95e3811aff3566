"""Old names of Palazzo in hosts' settings and in launchers: they still work, and one command writes the present ones.

Two old names were ever written outside the package: the module `palazzo.cli`, which hook lines, MCP servers and status
lines start with `python -m`, and the file `palazzo/cli/mempalace.py`, which launchers of `mempalace` start.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palazzo.features.hosts import install_mempalace
from palazzo.features.hosts.install_state import make_reinstall_command, project_to_inspect
from palazzo.frozen_class import frozen
from palazzo.hosts import entry_matcher, host_files, host_registry, host_settings
from palazzo.hosts.entry_matcher import FORMER_MODULE
from palazzo.hosts.hook_wiring import PROGRAM, HostHooks

if TYPE_CHECKING:
    from palazzo.hosts.host_files import HostFiles
    from palazzo.hosts.installer import Installer
    from palazzo.operations.context import Context

_FORMER_FILE = "palazzo/cli/mempalace.py"
_FORMER_PATH = re.compile(r"palazzo[/\\]+cli[/\\]+mempalace\.py")
_LAUNCHERS = ("mempalace", "mempalace-mcp", "mempalace.cmd", "mempalace-mcp.cmd")
_LARGEST_LAUNCHER = 4096
"""The bytes of a launcher that are read: ours are shorter, and another program of that name may be large."""


@frozen
class OldName:
    """An old name, the file or variable in which it stands, and the command or step that writes the present name."""

    name: str
    origin: str
    renewal: str


def old_names(context: Context) -> list[OldName]:
    """Return every old name in the settings of hosts and in launchers, each once for a file."""
    return list(dict.fromkeys((*_in_hosts(context), *_in_launchers(context))))


# --- settings of hosts -------------------------------------------------------------------------------------


def _in_hosts(context: Context) -> Iterator[OldName]:
    for installer, scope, files in _files(context):
        command = make_reinstall_command(context, installer.wiring, scope)
        for path, is_ours in _former_entries(installer, files):
            yield OldName(FORMER_MODULE, str(path), command if is_ours else _by_hand(path))


def _by_hand(path: Path) -> str:
    return f"write {PROGRAM} instead of {FORMER_MODULE} in {path}"


def _files(context: Context) -> Iterator[tuple[Installer, str, HostFiles]]:
    """Yield the files of each host, with their scope: the person's, then the project's."""
    for _, installer in host_registry.installers():
        own = installer.files_of(context.variables, None)
        project = installer.files_of(context.variables, project_to_inspect(context))
        yield installer, "user", own
        if project.hooks != own.hooks:
            yield installer, "project", project


def _former_entries(installer: Installer, files: HostFiles) -> Iterator[tuple[Path, bool]]:
    """Yield the file of each entry that starts the former module, and whether `install` writes such an entry again."""
    for handler in _entries(files.hooks, installer.handlers):
        if _starts_former_module(handler):
            yield files.hooks, _is_our_handler(handler, installer.wiring)
    for name, entry in _entries(files.servers, installer.servers):
        if _starts_former_module(entry):
            yield files.servers, not installer.starts_server and host_settings.is_our_server(name, entry)


def _entries(path: Path, read: Callable[[str], Any]) -> list[Any]:
    """Return what a file holds; empty if it cannot be parsed, which is a finding of the host."""
    text = host_files.text_of(path)
    try:
        return list(read(text)) if text else []
    except ValueError:
        return []


def _is_our_handler(handler: Any, host_spec: HostHooks) -> bool:
    ours = entry_matcher.hook(handler, host_spec.host) or entry_matcher.status_line(handler)
    return ours is not None


def _starts_former_module(entry: Any) -> bool:
    words = entry_matcher.words(entry) if isinstance(entry, dict) else []
    return ("-m", FORMER_MODULE) in pairwise(words)


# --- launchers of `mempalace` ------------------------------------------------------------------------------


def _in_launchers(context: Context) -> Iterator[OldName]:
    for directory in dict.fromkeys((*_path_directories(context), *_server_directories(context))):
        for path in (directory / name for name in _LAUNCHERS):
            if _is_former_launcher(path):
                command = f"palazzo install mempalace-compat {shlex.quote(str(directory))}"
                yield OldName(_FORMER_FILE, str(path), command)


def _path_directories(context: Context) -> Iterator[Path]:
    for word in context.variables.get("PATH", "").split(os.pathsep):
        if word and Path(word).is_absolute():
            yield Path(word)


def _server_directories(context: Context) -> Iterator[Path]:
    """Yield the directories of the programs that hosts start as MCP servers by an absolute path."""
    for installer, _, files in _files(context):
        for _, entry in _entries(files.servers, installer.servers):
            words = entry_matcher.words(entry) if isinstance(entry, dict) else []
            if words and Path(words[0]).is_absolute():
                yield Path(words[0]).parent


def _is_former_launcher(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            text = file.read(_LARGEST_LAUNCHER).decode("utf-8", "replace")
    except OSError:
        return False
    return install_mempalace.MARK in text and _FORMER_PATH.search(text) is not None
