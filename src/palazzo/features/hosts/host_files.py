"""The host files that Palazzo writes to: a person's own files, or a project's files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from palazzo.errors import UsageError


@dataclass(frozen=True, slots=True)
class HostFiles:
    """A host's files: its hooks, its MCP servers, and the instructions that its agents get when a session starts.

    `directory` is the host's own directory, which exists if the host is installed.
    """

    directory: Path
    hooks: Path
    servers: Path
    instructions: Path


def claude_code(variables: Mapping[str, str], project: Path | None = None) -> HostFiles:
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


def codex(variables: Mapping[str, str], project: Path | None = None) -> HostFiles:
    """Return Codex's files; those of the project if one is given."""
    custom_directory = variables.get("CODEX_HOME")
    directory = Path(custom_directory).expanduser() if custom_directory else home(variables) / ".codex"
    if project is not None:
        own = project / ".codex"
        return HostFiles(directory, own / "hooks.json", own / "config.toml", project / "AGENTS.md")
    return HostFiles(directory, directory / "hooks.json", directory / "config.toml", directory / "AGENTS.md")


def text_of(path: Path) -> str:
    """Return a file's text; empty if it cannot be read, which the code that changes the file reports."""
    try:
        return path.read_bytes().decode("utf-8-sig") if path.is_file() else ""  # a pipe would be waited for
    except (OSError, UnicodeDecodeError):
        return ""


def check_present(title: str, program: str, files: HostFiles, variables: Mapping[str, str]) -> None:
    """Raise UsageError if neither the host's directory nor its program is found here."""
    if not files.directory.is_dir() and shutil.which(program, path=variables.get("PATH", "")) is None:
        raise UsageError(
            f"{title} was not found: there is no directory {files.directory}, and no program '{program}' on PATH; "
            "install it first. With --project, a project's own files can still be written."
        )


def home(variables: Mapping[str, str]) -> Path:
    """Return the person's home directory."""
    return Path(variables.get("HOME") or Path.home())
