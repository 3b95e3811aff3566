"""Copilot CLI's files: Palazzo's own file of hooks, MCP servers, instructions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from palazzo.hosts.host_files import HostFiles, home


def files_of(variables: Mapping[str, str], project: Path | None = None) -> HostFiles:
    """Return Copilot CLI's files; a project has none that Palazzo writes."""
    custom_directory = variables.get("COPILOT_HOME")
    directory = Path(custom_directory).expanduser() if custom_directory else home(variables) / ".copilot"
    return HostFiles(
        directory,
        directory / "hooks" / "palazzo.json",
        directory / "mcp-config.json",
        directory / "copilot-instructions.md",
    )
