"""Claude Code's files: settings, MCP servers, instructions; and for how long it keeps its history."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from palazzo.hosts.host_files import HostFiles, home

_DEFAULT_DAYS = 30
"""Claude Code's default for `cleanupPeriodDays`."""


def delete_after_days(history: Path) -> int:
    """Return after how many days Claude Code deletes a session that was not continued."""
    try:
        settings = json.loads((history.parent / "settings.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return _DEFAULT_DAYS
    days = settings.get("cleanupPeriodDays") if isinstance(settings, dict) else None
    return days if isinstance(days, int) and not isinstance(days, bool) and days >= 0 else _DEFAULT_DAYS


def files_of(variables: Mapping[str, str], project: Path | None = None) -> HostFiles:
    """Return Claude Code's files; those of the project if one is given."""
    custom_directory = variables.get("CLAUDE_CONFIG_DIR")
    directory = Path(custom_directory).expanduser() if custom_directory else home(variables) / ".claude"
    if project is not None:
        instructions = project / "CLAUDE.md"
        alternative = project / ".claude" / "CLAUDE.md"
        instructions = (
            alternative if os.access(alternative, os.F_OK) and not os.access(instructions, os.F_OK) else instructions
        )
        return HostFiles(directory, project / ".claude" / "settings.json", project / ".mcp.json", instructions)
    older = directory / ".config.json"  # where it is there it is read instead
    servers = (
        older if os.access(older, os.F_OK) else (directory if custom_directory else home(variables)) / ".claude.json"
    )
    return HostFiles(directory, directory / "settings.json", servers, directory / "CLAUDE.md")
