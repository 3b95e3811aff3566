"""The command with which each host resumes a session, and where it keeps that session's file.

The commands are those of the hosts' own help: Claude Code 2.1, Codex 0.169, opencode 1.18, pi 0.99, Gemini CLI 0.61
and Copilot CLI 1.0. Continue and aider cannot resume a session by its id.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from palazzo.errors import PalazzoError

_PLAIN_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}")
"""A session id that can be an argument: it cannot be read as an option or as part of a path."""


@dataclass(frozen=True, slots=True)
class HostCommand:
    """How a host resumes: its program with arguments, and patterns of the file below its directory of sessions.

    `ID` stands for the session's id. A host `needs_directory` if it finds sessions only from the directory in which
    they began.
    """

    arguments: tuple[str, ...]
    files: tuple[str, ...] = ()
    needs_directory: bool = False


COMMANDS: Mapping[str, HostCommand] = {
    "claude-code": HostCommand(("claude", "--resume", "ID"), ("*/ID.jsonl",), needs_directory=True),
    "codex": HostCommand(("codex", "resume", "ID"), ("**/rollout-*-ID.jsonl", "**/rollout-*-ID.jsonl.zst")),
    "opencode": HostCommand(("opencode", "--session", "ID")),
    "pi": HostCommand(("pi", "--session", "ID"), ("*/*_ID.jsonl",), needs_directory=True),
    "gemini-cli": HostCommand(("gemini", "--resume", "ID"), ("*/chats/*.json*",), needs_directory=True),
    "copilot": HostCommand(("copilot", "--resume", "ID"), ("ID/events.jsonl",)),
}


def resume_command(host: str, session: str) -> tuple[str, ...]:
    """Return the command that resumes a session; PalazzoError if its host has none, or for an id that is unsafe."""
    if host not in COMMANDS:
        raise PalazzoError(
            f"{host} cannot resume a session by its id: 'palazzo handoff {session} --to HOST' writes a prompt for "
            "another agent."
        )
    if not _PLAIN_ID.fullmatch(session):
        raise PalazzoError(f"The id '{session}' cannot be passed to a program; 'palazzo show' shows the session.")
    return tuple(session if argument == "ID" else argument for argument in COMMANDS[host].arguments)


def session_files(host: str, session: str, directories: list[Path]) -> Iterator[Path]:
    """Yield the files in which a host keeps a session, below its directories of sessions."""
    for directory in directories:
        for pattern in COMMANDS[host].files:
            for path in directory.glob(pattern.replace("ID", glob.escape(session))):
                if host != "gemini-cli" or _is_gemini_session(path, session):
                    yield path


def _is_gemini_session(path: Path, session: str) -> bool:
    """Return whether a chat of Gemini CLI, whose name has only the beginning of the id, is that session."""
    if session[:8] not in path.name:
        return False
    try:
        with path.open("rb") as stream:
            return session.encode() in stream.read(4096)
    except OSError:
        return False
