"""The sessions that may be a caller's: the sessions that it names, or recent ones in the places where it may work.

`security/call_origin` reads the sessions that a caller's variables name. This module finds their transcripts, on this
machine and in the archive.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.archive.hook_messages import KIND
from palazzo.model import Micros
from palazzo.operations.unarchived_transcripts import began_at, directory_of
from palazzo.operations.watched_sources import histories_here
from palazzo.security.call_origin import Caller, NamedSession, is_of_host
from palazzo.store import place_rows, taint_queries

if TYPE_CHECKING:
    from palazzo.hosts.host_histories import History
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

ACTIVITY_WINDOW = Micros(4 * 3_600_000_000)
"""The time after its last message during which a session may still be the caller's."""
_SHORTEST_SUFFIX = 8
"""The end of a file's name is compared with session names of this length or more: shorter ones match by chance."""
_ENTRIES = 50_000
"""How many files of a history are examined for recent changes."""
_NEWEST_ITEMS = 20_000
"""How many of the newest items are examined for active sessions: a busy day of several sessions at once."""


class CallerReach:
    """The sessions that may be a caller's: those that it names, or recent ones in the places where it may work.

    A caller may work in the project of its directory, and in the projects of the wings that it writes to. It may work
    anywhere if its host keeps transcripts and it runs in a shell, is in no project, or has no session there.
    """

    def __init__(self, context: Context, caller: Caller, wings: Sequence[str | None]) -> None:
        self.context, self.caller = context, caller
        self._wings = tuple(wing for wing in wings if wing)
        self._listed: dict[History, list[Path]] = {}
        self._named: dict[NamedSession, list[Path]] = {}

    @cached_property
    def histories(self) -> tuple[History, ...]:
        """All histories of hosts on this machine."""
        return histories_here(self.context)

    @cached_property
    def named_files(self) -> list[Path]:
        """The transcripts of the sessions that the caller names, and of their sub-agents."""
        return [path for session in self.caller.sessions for path in self._files_of(session)]

    @cached_property
    def named_sources(self) -> list[int]:
        """The archive's sources of the sessions that the caller names, and of their sub-agents."""
        if not self.context.has_palace:
            return []
        with self.context.reading().database.snapshot() as connection:
            return [source for session in self.caller.sessions for source in _sources_of(connection, session)]

    @cached_property
    def is_named(self) -> bool:
        """Whether each session that the caller names is known, and is either still active or certainly the caller's."""
        return bool(self.caller.sessions) and all(
            self._is_known(session) and (self.caller.is_certain or self._is_active(session))
            for session in self.caller.sessions
        )

    @cached_property
    def projects(self) -> frozenset[str]:
        """The projects in which the caller works or writes."""
        identities = {self.context.project.identity} if self.context.is_in_project else set()
        if self._wings and self.context.has_palace:
            with self.context.reading().database.snapshot() as connection:
                identities.update(_projects_of_wings(connection, self._wings))
        return frozenset(identities)

    @cached_property
    def is_everywhere(self) -> bool:
        """Whether the caller may work in any project."""
        if self.is_named:
            return False
        caller, is_placed = self.caller, self.context.is_in_project
        if caller.sessions or caller.keeps_transcripts:
            return caller.in_shell or not is_placed or not self._has_session_here()
        return not caller.host and (caller.in_shell or not (is_placed or self._wings))

    def holds_directory(self, directory: str) -> bool:
        """Return whether a session in that directory may be the caller's."""
        if self.is_named or self.is_everywhere:
            return True
        return self._is_in_projects(directory)

    def holds_source(self, kind: str, project: str) -> bool:
        """Return whether an archived session of this kind and project may be the caller's."""
        return is_of_host(kind, self.caller.host) if self.is_everywhere else project in self.projects

    def recent_files(self) -> list[Path]:
        """Return recently changed transcripts that may be the caller's, the newest first."""
        host = self.caller.host if self.is_everywhere else ""
        histories = [history for history in self.histories if is_of_host(history.host, host)]
        paths = {path for history in histories for path in self.recent_in(history)}
        return sorted(paths, key=changed_at, reverse=True)

    def later_files(self) -> list[Path]:
        """Return recent transcripts that began after the named sessions last changed, unless the names are certain.

        A host that starts another session leaves the previous session's name in its servers' environment variables.
        """
        if self.caller.is_certain or not self.named_files:
            return []
        last_change = max(changed_at(path) for path in self.named_files) * 1_000_000
        other_files = [path for path in self.recent_files() if path not in self.named_files]
        return [
            path
            for path in other_files
            if changed_at(path) * 1_000_000 > last_change
            and (began_at(path) or 0) > last_change
            and self._is_in_projects(directory_of(path))
        ]

    def why_unknown(self) -> str:
        """Return why the caller's session is unknown; '' if it is known."""
        for session in self.caller.sessions:
            if not self._is_known(session):
                return f"session '{session.id[:60]}' is not known here"
        if not self.is_named and self.caller.keeps_transcripts and not self.recent_files():
            return f"no recent session of {self.caller.host} is known here"
        return ""

    def _is_in_projects(self, directory: str) -> bool:
        project = self.context.place_finder.project(Path(directory))
        return project.identity in self.projects or self.context.place_finder.wing(project) in self._wings

    def _has_session_here(self) -> bool:
        """Return whether the caller's host has a recent session in the caller's projects."""
        for history in self.histories:
            if not is_of_host(history.host, self.caller.host):
                continue
            for path in self.recent_in(history):
                directory = directory_of(path)
                if directory and self.context.place_finder.project(Path(directory)).identity in self.projects:
                    return True
        return False

    def _is_known(self, session: NamedSession) -> bool:
        """Return whether the transcript is on this machine or in the archive. Messages from hooks alone do not
        count.
        """
        if self._files_of(session):
            return True
        if not self.context.has_palace:
            return False
        with self.context.reading().database.snapshot() as connection:
            return any(kind != KIND for kind in _kinds_of(connection, session))

    def _is_active(self, session: NamedSession) -> bool:
        since = self.context.now - ACTIVITY_WINDOW
        if any(changed_at(path) * 1_000_000 >= since for path in self._files_of(session)):
            return True
        if not self.context.has_palace:
            return False
        with self.context.reading().database.snapshot() as connection:
            stretches = taint_queries.stretches(connection, _sources_of(connection, session))
        return any(stretch.last >= since for stretch in stretches)

    def _files_of(self, session: NamedSession) -> list[Path]:
        if session not in self._named:
            histories = [history for history in self.histories if is_of_host(history.host, session.host)]
            self._named[session] = [
                path for history in histories for path in _files_for_session(session.id, self._files_in(history))
            ]
        return self._named[session]

    def _files_in(self, history: History) -> list[Path]:
        """Return the files of a history that is a directory; they are listed once per call."""
        if history not in self._listed:
            self._listed[history] = list(_files(history.path)) if history.path.is_dir() else []
        return self._listed[history]

    def recent_in(self, history: History) -> Iterator[Path]:
        """Yield the recently changed files of a history."""
        earliest = (self.context.now - ACTIVITY_WINDOW) / 1_000_000
        if history.path.is_dir():
            yield from (path for path in self._files_in(history) if changed_at(path) >= earliest)
        elif max(changed_at(history.path), changed_at(Path(f"{history.path}-wal"))) >= earliest:
            yield history.path


def _sources_of(connection: Connection, session: NamedSession) -> list[int]:
    sources = taint_queries.of_session(connection, session.id)
    kinds = taint_queries.kinds_of(connection, sources)
    return [source for source in sources if kinds[source] == KIND or is_of_host(kinds[source], session.host)]


def _kinds_of(connection: Connection, session: NamedSession) -> set[str]:
    return set(taint_queries.kinds_of(connection, _sources_of(connection, session)).values())


def _projects_of_wings(connection: Connection, wings: Iterable[str]) -> Iterator[str]:
    for wing in wings:
        row = place_rows.wing_led_to(connection, wing)
        if row is not None:
            yield from place_rows.projects_of_wing(connection, row)


def sources_in_reach(reach: CallerReach) -> list[int]:
    """Return the archive's sources of the sessions that may be the caller's."""
    context, named_sources = reach.context, reach.named_sources
    if reach.is_named and reach.caller.is_certain:
        return named_sources
    with context.reading().database.snapshot() as connection:
        active = taint_queries.active_sessions(connection, _NEWEST_ITEMS)
        candidates = [
            session.source
            for session in active
            if session.source not in named_sources and reach.holds_source(session.kind, session.project)
        ]
        recent_stretches = [
            stretch
            for stretch in taint_queries.stretches(connection, candidates)
            if stretch.last >= context.now - ACTIVITY_WINDOW
        ]
        last_at = max((stretch.last for stretch in taint_queries.stretches(connection, named_sources)), default=None)
    # A host that starts another session leaves the former session's name in the variables of its servers.
    later = [
        stretch.source
        for stretch in recent_stretches
        if not reach.is_named or last_at is None or stretch.first > last_at
    ]
    return [*named_sources, *later]


def _files_for_session(session: str, files: Sequence[Path]) -> list[Path]:
    """Return a session's files, found by name, and those of its sub-agents, in a folder with the session's name."""
    ends = tuple(f"{mark}{session}" for mark in "-_") if len(session) >= _SHORTEST_SUFFIX else ()
    own = [path for path in files if _name_of(path) == session or path.stem.endswith(ends)]
    folders = tuple(f"{path.with_suffix('')}{os.sep}" for path in own)
    return own + [path for path in files if str(path).startswith(folders) and path not in own]


def _name_of(path: Path) -> str:
    """Return the name that identifies a transcript's session: the file's, or its folder's if each session has its
    own.
    """
    return path.parent.name if path.name == "events.jsonl" else path.stem


def _files(directory: Path) -> Iterator[Path]:
    remaining_entries = _ENTRIES
    for folder, _, names in os.walk(directory):
        for name in names[:remaining_entries]:
            yield Path(folder, name)
        remaining_entries -= len(names)
        if remaining_entries <= 0:
            return


def changed_at(path: Path) -> float:
    """Return when a file last changed, in seconds; 0 if it does not exist."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
