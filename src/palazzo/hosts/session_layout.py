"""The place where a host looks for a session's file, determined from the name of the target directory.

A host's own session directory is recognised by its name (`projects`, `sessions`, …) by `place` in the host's module
`restore`. In any other directory a file keeps its original name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path, PurePath

from palazzo.frozen_class import frozen
from palazzo.hosts import host_registry
from palazzo.model import Micros

_NOT_FOR_A_NAME = re.compile(r"[^\w.-]+")


@frozen
class SessionOrigin:
    """What is known of a session's file: its kind, session, path, working directory and start time."""

    kind: str
    session: str
    path: PurePath
    cwd: str
    began: Micros

    def below(self, folder: str) -> tuple[str, ...]:
        """Return the parts of the path below the innermost folder of that name; empty if there is no such folder."""
        parts = self.path.parts
        depth = next((n for n in range(len(parts) - 2, -1, -1) if parts[n] == folder), None)
        return () if depth is None else parts[depth + 1 :]

    @property
    def stamp(self) -> str:
        """The start time, in a form that can stand in a file name."""
        return datetime.fromtimestamp(self.began / 1_000_000, UTC).strftime("%Y-%m-%dT%H-%M-%S")


def place_in(directory: Path, file: SessionOrigin) -> Path:
    """Return the path of the file within `directory`.

    Its metadata may come from anyone (an export, another device): a name that would lead out of the directory, such as
    a session called `../..`, is replaced by a plain name inside it.
    """
    place = directory / (_place_of_host(directory.name, file) or file.path.name)
    try:
        below = place.relative_to(directory).parts
    except ValueError:
        below = ()
    if below and ".." not in below:
        return place
    return directory / f"{plain_name(file.session).lstrip('.') or 'session'}.jsonl"


def plain_name(session: str) -> str:
    """Return a session's id in a form that can begin a file name on every system."""
    return _NOT_FOR_A_NAME.sub("_", session) or "session"


def _place_of_host(directory: str, file: SessionOrigin) -> PurePath | None:
    restore = host_registry.find_part(host_registry.host_of_kind(file.kind), "restore")
    place: Callable[[str, SessionOrigin], PurePath | None] | None = getattr(restore, "place", None)
    return None if place is None else place(directory, file)
