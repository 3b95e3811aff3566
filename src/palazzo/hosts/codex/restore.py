"""Where Codex looks for a session: `sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl`."""

from __future__ import annotations

import re
from pathlib import PurePath

from palazzo.hosts.session_layout import SessionOrigin

_ROLLOUT = re.compile(r"rollout-(\d{4})-(\d\d)-(\d\d)T.*\.jsonl")


def place(directory: str, file: SessionOrigin) -> PurePath | None:
    """Return the path of a file below a directory of that name; None if it keeps its name there."""
    match directory:
        case "sessions":
            return PurePath(_day(file), _name(file))
        case "archived_sessions":
            return PurePath(_name(file))
        case _:
            return None


def _name(file: SessionOrigin) -> str:
    return file.path.name if _ROLLOUT.fullmatch(file.path.name) else f"rollout-{file.stamp}-{file.session}.jsonl"


def _day(file: SessionOrigin) -> PurePath:
    name_match = _ROLLOUT.fullmatch(_name(file))
    return PurePath(*name_match.groups()) if name_match else PurePath()
