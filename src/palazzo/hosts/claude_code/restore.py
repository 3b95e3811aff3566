"""Where Claude Code looks for a session: `projects/<folder of the directory>/<session>.jsonl`."""

from __future__ import annotations

import re
from pathlib import PurePath

from palazzo.hosts.session_layout import SessionOrigin

_NOT_A_LETTER_OR_DIGIT = re.compile(r"[^A-Za-z0-9]")


def place(directory: str, file: SessionOrigin) -> PurePath | None:
    """Return the path of a file below a directory of that name; None if it keeps its name there."""
    if directory == "projects":
        return PurePath(_project(file), _name(file))
    return _name(file) if "/" in file.session else None


def project_folder(cwd: str) -> str:
    """Return the name that Claude Code gives to the folder of a working directory."""
    return _NOT_A_LETTER_OR_DIGIT.sub("-", cwd)


def _project(file: SessionOrigin) -> str:
    """Return the folder that the file was in, which the host named; else the name that the host would give it."""
    below = file.below("projects")
    return below[0] if len(below) > 1 else project_folder(file.cwd)


def _name(file: SessionOrigin) -> PurePath:
    session, slash, agent = file.session.partition("/")
    return PurePath(session, "subagents", f"{agent}.jsonl") if slash else PurePath(f"{session}.jsonl")
