"""The place where each host looks for a session's file, determined from the name of the target directory.

A host's own session directory is recognised by its name (`projects`, `sessions`, …). In any other directory a file
keeps its original name. The rules come from the layouts in `tests/fixtures`, and from what each format reader states
about its host.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath

from palazzo.model import Micros

_NOT_A_LETTER_OR_DIGIT = re.compile(r"[^A-Za-z0-9]")
_SEPARATOR = re.compile(r"[/:\\]")
_NOT_FOR_A_NAME = re.compile(r"[^\w.-]+")
_ROLLOUT = re.compile(r"rollout-(\d{4})-(\d\d)-(\d\d)T.*\.jsonl")


@dataclass(frozen=True, slots=True)
class Lain:
    """What is known of a session's file: its host kind, session, path, working directory and start time."""

    kind: str
    session: str
    path: PurePath
    cwd: str
    began: Micros


def place_in(directory: Path, file: Lain) -> Path:
    """Return the path of the file within `directory`.

    Its metadata may come from anyone (an export, another device): a name that would lead out of the directory, such as
    a session called `../..`, is replaced by a plain name inside it.
    """
    place = _place_in(directory, file)
    try:
        below = place.relative_to(directory).parts
    except ValueError:
        below = ()
    if below and ".." not in below:
        return place
    return directory / f"{plain_name(file.session).lstrip('.') or 'session'}.jsonl"


def _place_in(directory: Path, file: Lain) -> Path:
    match file.kind, directory.name:
        case "claude-code", "projects":
            return directory / _claude_project(file) / _claude_name(file)
        case "claude-code", _:
            return directory / (_claude_name(file) if "/" in file.session else file.path.name)
        case "codex", "sessions":
            return directory / _codex_day(file) / _codex_name(file)
        case "codex", "archived_sessions":
            return directory / _codex_name(file)
        case "pi", "sessions":
            return directory / _pi_project(file) / _pi_name(file)
        case "gemini", "tmp":
            return directory / _gemini_project(file) / "chats" / _below_chats(file)
        case "gemini", "chats":
            return directory / _below_chats(file)
        case "copilot", "session-state":
            return directory / file.session / "events.jsonl"
        case _:
            return directory / file.path.name


def claude_code_project(cwd: str) -> str:
    """Return the name that Claude Code gives to the folder of a working directory."""
    return _NOT_A_LETTER_OR_DIGIT.sub("-", cwd)


def pi_project(cwd: str) -> str:
    """Return the name that pi gives to the folder of a working directory."""
    return "--" + _SEPARATOR.sub("-", cwd.lstrip("/")) + "--"


def plain_name(session: str) -> str:
    """Return a session's id in a form that can begin a file name on every system."""
    return _NOT_FOR_A_NAME.sub("_", session) or "session"


def _claude_project(file: Lain) -> str:
    """Return the folder that the file was in, which the host named; else the name that the host would give it."""
    below = _below(file.path, "projects")
    return below[0] if len(below) > 1 else claude_code_project(file.cwd)


def _claude_name(file: Lain) -> PurePath:
    session, slash, agent = file.session.partition("/")
    return PurePath(session, "subagents", f"{agent}.jsonl") if slash else PurePath(f"{session}.jsonl")


def _codex_name(file: Lain) -> str:
    return (
        file.path.name if _ROLLOUT.fullmatch(file.path.name) else f"rollout-{_stamp(file.began)}-{file.session}.jsonl"
    )


def _codex_day(file: Lain) -> PurePath:
    name_match = _ROLLOUT.fullmatch(_codex_name(file))
    return PurePath(*name_match.groups()) if name_match else PurePath()


def _pi_project(file: Lain) -> str:
    folder = file.path.parent.name
    return folder if folder.startswith("--") and folder.endswith("--") else pi_project(file.cwd)


def _pi_name(file: Lain) -> str:
    is_pi_name = file.path.name.endswith(f"_{file.session}.jsonl")
    return file.path.name if is_pi_name else f"{_stamp(file.began)}-000Z_{file.session}.jsonl"


def _gemini_project(file: Lain) -> str:
    """Return the folder between `tmp` and `chats`; a fixed name if the file was elsewhere, since the host knows
    none.
    """
    above = file.path.parts[: -len(_below(file.path, "chats")) - 1]
    return above[-1] if len(above) > 1 and above[-2] == "tmp" else "restored"


def _below_chats(file: Lain) -> PurePath:
    """Return the path below the chats folder; a sub-agent's file is in a folder named after its parent's session."""
    return PurePath(*(_below(file.path, "chats") or [file.path.name]))


def _below(path: PurePath, folder: str) -> tuple[str, ...]:
    """Return the parts of a path below the innermost folder of that name; empty if there is no such folder."""
    parts = path.parts
    depth = next((n for n in range(len(parts) - 2, -1, -1) if parts[n] == folder), None)
    return () if depth is None else parts[depth + 1 :]


def _stamp(at: Micros) -> str:
    return datetime.fromtimestamp(at / 1_000_000, UTC).strftime("%Y-%m-%dT%H-%M-%S")
