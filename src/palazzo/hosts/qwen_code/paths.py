"""Qwen Code's files: settings with hooks and MCP servers, instructions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from palazzo.hosts.host_files import HostFiles, home


def files_of(variables: Mapping[str, str], project: Path | None = None) -> HostFiles:
    """Return Qwen Code's files; those of the project if one is given. `QWEN_HOME` moves the person's directory."""
    custom_directory = variables.get("QWEN_HOME")
    directory = Path(custom_directory).expanduser() if custom_directory else home(variables) / ".qwen"
    if project is not None:
        settings = project / ".qwen" / "settings.json"
        return HostFiles(directory, settings, settings, project / "QWEN.md")
    return HostFiles(directory, directory / "settings.json", directory / "settings.json", directory / "QWEN.md")
