"""Where Gemini CLI looks for a session: `tmp/<project>/chats/`, with the file's own name."""

from __future__ import annotations

from pathlib import Path, PurePath

from palazzo.hosts.session_layout import SessionOrigin

_HEAD = 4096
"""The bytes at the start of a chat that name its session."""


def place(directory: str, file: SessionOrigin) -> PurePath | None:
    """Return the path of a file below a directory of that name; None if it keeps its name there."""
    match directory:
        case "tmp":
            return PurePath(_project(file), "chats", _below_chats(file))
        case "chats":
            return _below_chats(file)
        case _:
            return None


def is_session(path: Path, session: str) -> bool:
    """Return whether a chat, whose name has only the beginning of the id, is that session."""
    if session[:8] not in path.name:
        return False
    try:
        with path.open("rb") as stream:
            return session.encode() in stream.read(_HEAD)
    except OSError:
        return False


def _project(file: SessionOrigin) -> str:
    """Return the folder between `tmp` and `chats`; a fixed name if the file was elsewhere, since the host knows
    none.
    """
    above = file.path.parts[: -len(file.below("chats")) - 1]
    return above[-1] if len(above) > 1 and above[-2] == "tmp" else "restored"


def _below_chats(file: SessionOrigin) -> PurePath:
    """Return the path below the chats folder; a sub-agent's file is in a folder named after its parent's session."""
    return PurePath(*(file.below("chats") or [file.path.name]))
