"""The command with which a host resumes a session, and whether the host still has that session.

The commands are those of the hosts' own help. Hosts without one (Continue, aider) cannot resume a session by its id.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from palazzo.errors import PalazzoError
from palazzo.hosts import host_registry
from palazzo.hosts.host_descriptor import ResumeCommand

_PLAIN_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}")
"""A session id that can be an argument: it cannot be read as an option or as part of a path."""


def find_command(host: str) -> ResumeCommand | None:
    """Return how a host resumes; None if it cannot."""
    descriptor = host_registry.find_host(host)
    return None if descriptor is None else descriptor.resume


def resume_command(host: str, session: str) -> tuple[str, ...]:
    """Return the command that resumes a session; PalazzoError if its host has none, or for an id that is unsafe."""
    command = find_command(host)
    if command is None:
        raise PalazzoError(
            f"{host} cannot resume a session by its id: 'palazzo handoff {session} --to HOST' writes a prompt for "
            "another agent."
        )
    if not _PLAIN_ID.fullmatch(session):
        raise PalazzoError(f"The id '{session}' cannot be passed to a program; 'palazzo show' shows the session.")
    return tuple(session if argument == "ID" else argument for argument in command.arguments)


def has_session(host: str, session: str, histories: Sequence[Path]) -> bool:
    """Return whether a host still has a session in one of its histories."""
    restore = host_registry.find_part(host, "restore")
    has_one: Callable[[Path, str], bool] | None = getattr(restore, "has_session", None)
    if has_one is not None:
        return any(has_one(history, session) for history in histories)
    is_session: Callable[[Path, str], bool] = getattr(restore, "is_session", lambda path, session: True)
    return any(is_session(path, session) for path in _session_files(host, session, histories))


def _session_files(host: str, session: str, histories: Sequence[Path]) -> Iterator[Path]:
    """Yield the files that may hold a session."""
    command = find_command(host)
    for history in histories:
        for pattern in () if command is None else command.files:
            yield from history.glob(pattern.replace("ID", glob.escape(session)))
