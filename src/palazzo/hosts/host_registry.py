"""The hosts: one folder each, found by a listing of this package. A module of a folder is imported when it is used.

A folder is named as its host, with underscores (`gemini-cli` is in `gemini_cli/`), or begins with that name if the name
cannot be that of a package (`continue` is in `continue_dev/`). So a hook of one host finds its adapter without the
other folders.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from palazzo import hosts as package
from palazzo.errors import UsageError

if TYPE_CHECKING:
    from palazzo.hosts.adapter import HostAdapter
    from palazzo.hosts.host_descriptor import Host
    from palazzo.hosts.installer import Installer
    from palazzo.hosts.server_settings import ServerSettings
    from palazzo.sources.formats import Collection, Feeder

_ORDER = ("claude_code", "codex", "opencode", "pi", "gemini_cli", "copilot_cli", "continue_dev", "aider", "cursor")
"""Folders in the order in which people see them; others follow in the order of the alphabet."""


@cache
def folders() -> tuple[str, ...]:
    """Return the hosts' folders, in the order in which people see the hosts."""
    names = [path.parent.name for path in Path(__file__).parent.glob("*/host.py")]
    return tuple(sorted(names, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)))


@cache
def hosts() -> tuple[Host, ...]:
    """Return all hosts."""
    return tuple(map(_host, folders()))


def find_host(name: str) -> Host | None:
    """Return the host of that name, if it is one."""
    folder = _folder(name)
    return None if folder is None else _host(folder)


@cache
def host_of_kind(kind: str) -> str:
    """Return the name of the host whose transcripts are of this kind; the kind itself if it is not a host's."""
    return next((host.name for host in hosts() if kind in host.kinds), kind)


def find_part(name: str, part: str) -> ModuleType | None:
    """Return the module `part` of a host's folder; None if the host is unknown or has no such module."""
    folder = _folder(name)
    return None if folder is None else _part(folder, part)


def find_adapter(name: str) -> HostAdapter | None:
    """Return the adapter of a host's hooks; None if the host is unknown or has no hooks.

    A hook waits for this, so the host's description is not imported.
    """
    modules = [module for folder in _candidates(name) if (module := _part(folder, "hooks")) is not None]
    adapter: HostAdapter | None = next((module.ADAPTER for module in modules if module.ADAPTER.name == name), None)
    return adapter


def adapter_of(name: str) -> HostAdapter:
    """Return the adapter of a host; raises UsageError if its hooks are not known."""
    adapter = find_adapter(name)
    if adapter is None:
        raise UsageError(f"Palazzo knows no hooks of the host '{name}'; known hosts: {', '.join(adapters())}.")
    return adapter


def adapters() -> dict[str, HostAdapter]:
    """Return the adapters of all hosts with hooks, by name."""
    found_adapters = {host.name: find_adapter(host.name) for host in hosts()}
    return {name: adapter for name, adapter in found_adapters.items() if adapter is not None}


@cache
def installable_hosts() -> tuple[str, ...]:
    """Return the names of the hosts with an installer; no installer is imported."""
    names = {folder: f"{package.__name__}.{folder}.install" for folder in folders()}
    return tuple(_host(folder).name for folder, name in names.items() if find_spec(name) is not None)


def find_installer(name: str) -> Installer | None:
    """Return the installer of a host; None if the host is unknown or has none."""
    module = find_part(name, "install")
    installer: Installer | None = None if module is None else module.INSTALLER
    return installer


def installers() -> tuple[tuple[Host, Installer], ...]:
    """Return the hosts with an installer, each with its installer."""
    return tuple((_host(folder), module.INSTALLER) for folder in folders() if (module := _part(folder, "install")))


def aliases() -> dict[str, str]:
    """Return the hosts' names by their other names."""
    return {alias: host.name for host in hosts() for alias in host.aliases}


def server_settings() -> dict[str, tuple[Host, ServerSettings]]:
    """Return the hosts that start MCP servers, with their settings for one, by the name for `--print-config`."""
    pairs = [(_host(folder), module.SERVER) for folder in folders() if (module := _part(folder, "server"))]
    return {settings.name or host.name: (host, settings) for host, settings in pairs}


def feeders() -> tuple[Feeder, ...]:
    """Return the readers of single transcripts of all hosts."""
    return tuple(reader for module in _parts("transcript") for reader in getattr(module, "FEEDERS", ()))


def collections() -> tuple[Collection, ...]:
    """Return the readers of all hosts of files and directories that contain many conversations."""
    return tuple(reader for module in _parts("transcript") for reader in getattr(module, "COLLECTIONS", ()))


def _parts(part: str) -> list[ModuleType]:
    """Return the module `part` of each host that has one."""
    return [module for folder in folders() if (module := _part(folder, part)) is not None]


def _host(folder: str) -> Host:
    host: Host = import_module(f"{package.__name__}.{folder}.host").HOST
    return host


def _folder(name: str) -> str | None:
    """Return the folder of a host; None if no host has that name."""
    return next((folder for folder in _candidates(name) if _host(folder).name == name), None)


def _candidates(name: str) -> list[str]:
    """Return the folders that may be those of a host of that name."""
    plain = name.replace("-", "_")
    return [folder for folder in folders() if folder == plain or folder.startswith(f"{plain}_")]


@cache
def _part(folder: str, part: str) -> ModuleType | None:
    module = f"{package.__name__}.{folder}.{part}"
    return None if find_spec(module) is None else import_module(module)
