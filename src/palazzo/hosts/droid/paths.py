"""Droid's files: settings with hooks, MCP servers, instructions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from palazzo.hosts.host_files import HostFiles, home


def files_of(variables: Mapping[str, str], project: Path | None = None) -> HostFiles:
    """Return Droid's files; those of the project if one is given."""
    own = home(variables) / ".factory"
    directory = own if project is None else project / ".factory"
    instructions = own / "AGENTS.md" if project is None else project / "AGENTS.md"
    return HostFiles(own, directory / "settings.json", directory / "mcp.json", instructions)
