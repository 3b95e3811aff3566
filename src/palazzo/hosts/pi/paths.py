"""pi's files: Palazzo's extension, MCP servers, instructions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from palazzo.hosts.host_files import HostFiles


def directory_of(variables: Mapping[str, str]) -> Path:
    """Return pi's own directory."""
    custom_directory = variables.get("PI_CODING_AGENT_DIR")
    home = Path(variables.get("HOME") or Path.home())
    return Path(custom_directory).expanduser() if custom_directory else home / ".pi" / "agent"


def files_of(variables: Mapping[str, str], project: Path | None = None) -> HostFiles:
    """Return pi's files, with the extension for its hooks; those of the project if one is given."""
    own = directory_of(variables)
    directory = own if project is None else project / ".pi"
    instructions = (own if project is None else project) / "AGENTS.md"
    return HostFiles(own, file_in(directory), directory / "mcp.json", instructions)


def file_in(directory: Path) -> Path:
    """Return the path of the file that is written there."""
    return directory / "extensions" / "palazzo.ts"
