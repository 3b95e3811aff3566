"""Where Copilot CLI looks for a session: `session-state/<session>/events.jsonl`."""

from __future__ import annotations

from pathlib import PurePath

from palazzo.hosts.session_layout import SessionOrigin


def place(directory: str, file: SessionOrigin) -> PurePath | None:
    """Return the path of a file below a directory of that name; None if it keeps its name there."""
    return PurePath(file.session, "events.jsonl") if directory == "session-state" else None
