"""The host files that Palazzo writes to: a person's own files, or a project's files."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from palazzo.errors import UsageError
from palazzo.frozen_class import frozen


@frozen
class HostFiles:
    """A host's files: its hooks, its MCP servers, and the instructions that its agents get when a session starts.

    `directory` is the host's own directory, which exists if the host is installed. In a host without hooks, `hooks` is
    the file of its servers; `instructions` is None if no file has them.
    """

    directory: Path
    hooks: Path
    servers: Path
    instructions: Path | None


def text_of(path: Path) -> str:
    """Return a file's text; empty if it cannot be read, which the code that changes the file reports."""
    try:
        return path.read_bytes().decode("utf-8-sig") if path.is_file() else ""  # a pipe would be waited for
    except (OSError, UnicodeDecodeError):
        return ""


def check_present(title: str, program: str, files: HostFiles, variables: Mapping[str, str]) -> None:
    """Raise UsageError if neither the host's directory nor its program is found here."""
    is_on_path = bool(program) and shutil.which(program, path=variables.get("PATH", "")) is not None
    if not files.directory.is_dir() and not is_on_path:
        also = f", and no program '{program}' on PATH" if program else ""
        raise UsageError(
            f"{title} was not found: there is no directory {files.directory}{also}; install it first. With --project, "
            "a project's own files can still be written."
        )


def home(variables: Mapping[str, str]) -> Path:
    """Return the person's home directory."""
    return Path(variables.get("HOME") or Path.home())
