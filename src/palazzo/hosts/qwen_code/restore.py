"""Where Qwen Code looks for a session: `projects/<folder of the directory>/chats/<session>.jsonl`."""

from __future__ import annotations

import re
from pathlib import PurePath

from palazzo.hosts.session_layout import SessionOrigin, plain_name

_NOT_A_LETTER_OR_DIGIT = re.compile(r"[^A-Za-z0-9]")


def place(directory: str, file: SessionOrigin) -> PurePath | None:
    """Return the path of a file below a directory of that name; None if it keeps its name there."""
    if directory != "projects":
        return None
    return PurePath(_project(file), "chats", f"{plain_name(file.session).lstrip('.') or 'session'}.jsonl")


def _project(file: SessionOrigin) -> str:
    """Return the folder that the file was in, which the host named; else the name that the host would give it."""
    below = file.below("projects")
    return below[0] if len(below) > 2 and below[1] == "chats" else _NOT_A_LETTER_OR_DIGIT.sub("-", file.cwd)
