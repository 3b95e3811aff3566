"""Detection of the coding agents installed here, by the directories that they keep."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from palazzo.frozen_class import frozen
from palazzo.hosts.host_registry import hosts


@frozen
class HostFound:
    """An installed agent program, and the directory that proves it."""

    name: str
    directory: str


def hosts_found(variables: Mapping[str, str]) -> tuple[HostFound, ...]:
    """Return the installed hosts, each once."""
    home = Path(variables.get("HOME") or Path.home())
    installed: dict[str, HostFound] = {}
    for host in hosts():
        for location in host.directories:
            custom_directory = variables.get(location.variable, "") if location.variable else ""
            directory = Path(custom_directory) if custom_directory else home / location.default
            if host.name not in installed and directory.is_dir():
                installed[host.name] = HostFound(host.name, str(directory))
    return tuple(installed.values())
