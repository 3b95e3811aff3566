"""Gemini CLI's files: settings with hooks and MCP servers, instructions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from palazzo.hosts.host_files import HostFiles, home


def files_of(variables: Mapping[str, str], project: Path | None = None) -> HostFiles:
    """Return Gemini CLI's files; those of the project if one is given. `GEMINI_CLI_HOME` stands for the home."""
    custom_home = variables.get("GEMINI_CLI_HOME")
    directory = (Path(custom_home).expanduser() if custom_home else home(variables)) / ".gemini"
    if project is not None:
        settings = project / ".gemini" / "settings.json"
        return HostFiles(directory, settings, settings, project / "GEMINI.md")
    return HostFiles(directory, directory / "settings.json", directory / "settings.json", directory / "GEMINI.md")
