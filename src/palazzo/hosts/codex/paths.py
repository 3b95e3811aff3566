"""Codex's files: hooks, settings, instructions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from palazzo.hosts.host_files import HostFiles, home


def files_of(variables: Mapping[str, str], project: Path | None = None) -> HostFiles:
    """Return Codex's files; those of the project if one is given."""
    custom_directory = variables.get("CODEX_HOME")
    directory = Path(custom_directory).expanduser() if custom_directory else home(variables) / ".codex"
    if project is not None:
        own = project / ".codex"
        return HostFiles(directory, own / "hooks.json", own / "config.toml", project / "AGENTS.md")
    return HostFiles(directory, directory / "hooks.json", directory / "config.toml", directory / "AGENTS.md")
