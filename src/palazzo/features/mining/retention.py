"""Retention: which parts of the hosts' histories are not archived yet, and how long the host will keep them.

Files are not opened: their size and modification time are compared with the values that the palace recorded. Only the
beginning of the oldest unarchived file is read, since a session may be excluded on purpose.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.hosts.host_histories import histories
from palazzo.hosts.host_registry import find_host
from palazzo.operations.watched_sources import excluded_directories
from palazzo.settings import load
from palazzo.sources.collection_reader import state_of
from palazzo.sources.conversation_filter import SessionFilter
from palazzo.sources.file_heads import read_head
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS
from palazzo.sources.session_mining import open_session
from palazzo.sources.source_places import Placer
from palazzo.store import source_rows

if TYPE_CHECKING:
    from palazzo.hosts.host_histories import History
    from palazzo.operations.context import Context
    from palazzo.store.source_rows import FileState

_DAY_NS = 24 * 3600 * 1_000_000_000
_MOST_READ = 200
"""The most sessions whose beginning is read to find one that is not excluded deliberately."""


@frozen
class HistoryKept:
    """One host's history. `days_left` is that of the oldest session not archived; None if nothing is deleted.

    `sessions` is None if they cannot be counted from outside; `grown` then says whether there may be new content.
    """

    host: str
    sessions: int | None
    missing: int
    grown: int
    days_left: int | None


@frozen
class _File:
    path: Path
    size: int
    modified_ns: int


def histories_kept(context: Context) -> list[HistoryKept]:
    """Return the state of every host's history on this machine."""
    states: Mapping[str, FileState] = {}
    if context.has_palace:
        with context.reading().database.snapshot() as connection:
            states = source_rows.read_file_states(connection)
    by_host: dict[str, list[History]] = {}
    for history in histories(context.variables, (), context.project_root):
        by_host.setdefault(history.host, []).append(history)
    return [_of_host(context, host, history_list, states) for host, history_list in by_host.items()]


def _of_host(context: Context, host: str, histories: Sequence[History], states: Mapping[str, FileState]) -> HistoryKept:
    session_files = _session_files(host)
    if session_files is None:
        return HistoryKept(host, None, *_of_sources(histories, states), None)
    sessions = missing = change_count = 0
    archived_uris = {uri.partition("#")[0] for uri in states}  # a packed transcript is remembered by the session in it
    days_left: list[int] = []
    for history in histories:
        files = list(_files(history.path, session_files))
        new = [file for file in files if file.path.as_uri() not in archived_uris]
        changed = [file for file in files if _has_changed(file, states.get(file.path.as_uri()))]
        excluded_paths = _left_out(context, new)
        sessions, missing, change_count = (
            sessions + len(files),
            missing + len(new) - len(excluded_paths),
            change_count + len(changed),
        )
        times = [file.modified_ns for file in (*new, *changed) if file.path not in excluded_paths]
        if history.deletes_after_days is not None and times:
            age = (context.now * 1000 - min(times)) // _DAY_NS
            days_left.append(int(history.deletes_after_days - age))
    return HistoryKept(host, sessions, missing, change_count, min(days_left, default=None))


def _session_files(host: str) -> re.Pattern[str] | None:
    """Return which files in a host's history are sessions; None if it keeps all sessions in one source."""
    descriptor = find_host(host)
    return None if descriptor is None or not descriptor.session_files else re.compile(descriptor.session_files)


def _of_sources(histories: Sequence[History], states: Mapping[str, FileState]) -> tuple[int, int]:
    """Return how many sources are not archived, and how many may have grown since."""
    missing = change_count = 0
    for history in histories:
        uri = history.path.as_uri()
        source_states = [state for source_uri, state in states.items() if source_uri.startswith(f"{uri}#")]
        if not source_states and uri not in states:
            missing += 1
            continue
        whole = states.get(uri)
        current_state = None if history.path.is_dir() else state_of(history.path)
        change_count += (
            whole is not None
            and current_state is not None
            and (whole.size, whole.mtime) != (current_state.size, current_state.mtime)
        )
    return missing, change_count


def _files(top: Path, pattern: re.Pattern[str]) -> Iterator[_File]:
    directories = [str(top)]
    while directories:
        directory = directories.pop()
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        directories.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        path = Path(entry.path)
                        if pattern.fullmatch(path.relative_to(top).as_posix()):
                            status = entry.stat(follow_symlinks=False)
                            yield _File(path, status.st_size, status.st_mtime_ns)
        except OSError:  # it was taken away, or may not be looked into: then nothing of it can be archived either
            continue


def _has_changed(file: _File, state: FileState | None) -> bool:
    """Return whether an archived file has changed since. An incomplete last line is not archived yet."""
    return state is not None and (file.modified_ns != state.mtime or file.size < state.consumed)


def _left_out(context: Context, files: Sequence[_File]) -> set[Path]:
    """Return the files, from the oldest on, that the settings exclude, up to the first that they do not."""
    excluded_paths: set[Path] = set()
    if not context.has_palace:
        return excluded_paths
    own = load(context.settings_file, None, context.variables)
    session_filter = SessionFilter(
        least_messages=own.number("min_messages"), skip_directories=excluded_directories(context, own)
    )
    place_finder = Placer(context.reading().database)
    for file in sorted(files, key=lambda file: file.modified_ns)[:_MOST_READ]:
        if not _is_left_out(context, file.path, place_finder, session_filter):
            break
        excluded_paths.add(file.path)
    return excluded_paths


def _is_left_out(context: Context, path: Path, place_finder: Placer, session_filter: SessionFilter) -> bool:
    try:
        head = read_head(path)
        feeder = next((feeder for feeder in TRANSCRIPTS if feeder.recognises(path, head)), None)
        if feeder is None:
            return True  # a file of the host's that is no session
        with path.open("rb") as stream:
            identity = feeder.identify(path, head)
            rows = feeder.rows(stream, 0)
            session = open_session(
                context.reading().database, feeder.kind, identity, path.as_uri(), rows, place_finder, session_filter
            )
    except (OSError, SourceUnreadable):
        return False
    return isinstance(session, str)
