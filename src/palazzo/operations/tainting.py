"""Whether the session in which a caller writes has met words from outside: `guard/taint` says what follows from it.

What a session has met is in the archive, so what is new in its transcript is taken in first. The session is the one
that the caller's host names. Where it names none, or one that ended before another began here, every session counts
that has gone on in this project lately: whoever calls is one of them. A session that nobody knows has met nothing.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from palazzo.errors import UsageError
from palazzo.guard.taint import AGENT, PERSON, Believed, believed, from_outside, is_agents
from palazzo.model import Micros, Trust

if TYPE_CHECKING:
    from palazzo.mining.histories import History
    from palazzo.mining.report import MineRequest
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.tainted import Outsider

LATELY = Micros(4 * 3_600_000_000)
"""For how long after its last message a session may still be the caller's."""
_READING = 1.0
"""Seconds after which no further transcript is begun to be read."""
_MOST_OWN, _MOST_OTHERS, _ANY_SIZE = 1_000_000, 8_000_000, 1 << 62
"""Bytes of a transcript that a call waits for while they are taken in. Of its own session's, more is only read."""
_SHORTEST_NAME = 8
"""Characters of a session's name that files of which nothing is kept are looked for by."""
_ENTRIES = 50_000
"""Files of histories that are looked at, to find those that have changed lately."""
_SESSIONS = 200
_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")


class _Calling(NamedTuple):
    """Which session a caller says that it is in, if it says so; certain is what the call itself says."""

    named: str
    is_certain: bool


def speaks(context: Context) -> Trust:
    """Return whether a person or an agent calls: what is typed in a shell of an agent's, an agent has typed."""
    return "agent" if context.trust == "user" and is_agents(context.variables) else context.trust


def whom_to_believe(context: Context) -> Believed:
    """Return whom to believe for what this caller writes, and what from outside it has met if that is less."""
    from palazzo.operations.unkept import met_outside
    from palazzo.operations.using import SESSION, session_named

    trust = speaks(context)
    if trust == "user":
        return PERSON
    calling = _Calling(session_named(context), bool(context.variables.get(SESSION)))
    read = _take_in_what_is_new(context, calling) if context.has_palace and not context.is_off else frozenset()
    met = _met(context, calling) if context.has_palace else []
    if not met and met_outside(_unread(context, calling, read), lambda place: _is_here(context, place)):
        return Believed("external")
    return believed(trust, met)


def an_agents(context: Context) -> Believed:
    """Return whom to believe for what is an agent's whoever types it: an entry of its diary."""
    whom = whom_to_believe(context)
    return AGENT if whom == PERSON else whom


def unless_tainted(context: Context, verb: str) -> None:
    """Raise for a caller whose session has met words from outside: what it does shows at once in what is believed."""
    if whom_to_believe(context).trust == "external":
        raise UsageError(
            f"This session has read words from outside, and nobody {verb} under those: "
            "a person can, in a terminal of their own."
        )


def _met(context: Context, calling: _Calling) -> list[str]:
    """What the sessions have met that may be the caller's."""
    with context.reading().database.snapshot() as connection:
        sources = _sources(context, connection, calling)
        return met_in(connection, sources) if sources else []


def met_in(connection: Connection, sources: Sequence[int]) -> list[str]:
    """Return the ids of the items from outside that sessions have met: by a tool, or from the memory."""
    from palazzo.store import tainted

    told = tainted.outsiders_called(connection, _told_by_memory(connection, sources))
    return origins([*tainted.outsiders(connection, sources), *told])


def origins(found: Sequence[Outsider]) -> list[str]:
    """Return the ids of those items that came from outside themselves, not those that were said after them.

    A note counts by itself: it stands for what its writer had met.
    """
    from palazzo.store.tainted import WRITTEN

    return list(dict.fromkeys(one.uid for one in found if one.kind in WRITTEN or _is_origin(one)))


def _is_origin(one: Outsider) -> bool:
    """Whether it says itself that it is from outside, or is known to be."""
    return one.is_met or bool(from_outside(one.trust, one.parts, one.size))


def _told_by_memory(connection: Connection, sources: Sequence[int]) -> frozenset[str]:
    """The ids in what a memory answered these sessions: among them may be some of what came from outside."""
    from palazzo.derive.memory_calls import answers_of_memory
    from palazzo.guard.memory_tools import is_memory_tool, is_writing_tool
    from palazzo.store import tainted

    rows = tainted.tool_rows(connection, sources)
    answered = answers_of_memory(rows)
    found: set[str] = set()
    for text, parts in rows:
        for part in parts:
            asked = is_memory_tool(part.name) and not is_writing_tool(part.name)
            if part.kind == "tool_result" and (asked or part.call in answered):
                found.update(_ID.findall(text, part.start, part.end))
    return frozenset(found)


# --- which sessions ----------------------------------------------------------------------------------------


def _sources(context: Context, connection: Connection, calling: _Calling) -> list[int]:
    """The sources of the sessions of which one is the caller's."""
    from palazzo.store import tainted

    own = tainted.of_session(connection, calling.named) if calling.named else []
    if calling.named and calling.is_certain:
        return own
    project = context.project.identity
    others = tainted.stretches(connection, tainted.sessions_of_project(connection, project, _SESSIONS))
    lately = [one for one in others if one.last >= context.now - LATELY and one.source not in own]
    ended = max((one.last for one in tainted.stretches(connection, own)), default=None)
    # A host that goes on with another session leaves the former one's name in the variables of its servers.
    return [*own, *(one.source for one in lately if ended is None or one.first > ended)]


# --- what is new in their transcripts ----------------------------------------------------------------------


def _take_in_what_is_new(context: Context, calling: _Calling) -> frozenset[Path]:
    """Read on in the transcripts that may be the caller's, as far as that is quickly done; return those."""
    from dataclasses import replace

    from palazzo.mining.mine import mine
    from palazzo.operations.watched import Watched, what_changed

    histories = _histories(context)
    found = dict(each for history in histories for each in _changed(context, history, calling))
    with context.reading().database.snapshot() as connection:
        changed = [path for path, most in found.items() if 0 < _left(connection, path).size <= most]
    if not changed:
        return frozenset()
    read: set[Path] = set()
    told, context.on_writing = context.on_writing, None  # what a session said is kept whatever comes of this call
    try:
        palace = context.writing()
        newest = sorted(what_changed(context, Watched(histories), changed), key=_last_changed, reverse=True)
        began = time.monotonic()
        for n, request in enumerate(newest):  # the caller's own was written to just now: it is read in any case
            if n and time.monotonic() - began > _READING:
                break
            mine(palace.database, palace.clock, replace(request, wanted=replace(request.wanted, least_messages=0)))
            read.update(request.paths)
    finally:
        context.on_writing = told
    return frozenset(read)


def _last_changed(request: MineRequest) -> float:
    return max((_changed_at(path) for path in request.paths), default=0.0)


def _unread(context: Context, calling: _Calling, read: Collection[Path]) -> list[tuple[Path, int]]:
    """The files that may be the caller's session's and are not in the archive as far as they go; from which byte on.

    Those of the session that is named; without a name every one that changed lately, the newest first.
    """
    from palazzo.operations.watched import histories_here

    histories = histories_here(context)
    if len(calling.named) >= _SHORTEST_NAME:
        found = [path for history in histories for path in _files_of(history, calling.named)]
    elif calling.named:
        return []
    else:
        lately = {path: None for history in histories for path, _ in _changed(context, history, calling)}
        found = sorted(lately, key=_changed_at, reverse=True)
    if not context.has_palace:
        return [(path, 0) for path in found]
    with context.reading().database.snapshot() as connection:
        left = {path: _left(connection, path) for path in found if path not in read}
    return [(path, behind.start) for path, behind in left.items() if behind.size]


def _is_here(context: Context, directory: str) -> bool:
    """Whether a session in that directory is one in the caller's project."""
    return context.placing.project(Path(directory)).identity == context.project.identity


def _histories(context: Context) -> tuple[History, ...]:
    """The histories of hosts that are read here: of others nobody said that they may be."""
    from palazzo.operations.watched import histories_here
    from palazzo.store import hook_sessions

    with context.reading().database.snapshot() as connection:
        hooked = hook_sessions.hosts(connection)
    known = histories_here(context, only_known=True)
    return known + tuple(one for one in histories_here(context) if one.host in hooked and one not in known)


def _changed(context: Context, history: History, calling: _Calling) -> Iterator[tuple[Path, int]]:
    """The files of the session that is named; where none have its name, or it may be another, what changed lately.

    Each with the most bytes that it may be behind.
    """
    after = (context.now - LATELY) / 1_000_000
    if not history.path.is_dir():
        if _changed_at(history.path) >= after or _changed_at(Path(f"{history.path}-wal")) >= after:
            yield history.path, _ANY_SIZE
        return
    own = list(_files_of(history, calling.named)) if calling.named else []
    yield from ((path, _MOST_OWN) for path in own)
    if not own or not calling.is_certain:
        others = (path for path in _files(history.path) if path not in own and _changed_at(path) >= after)
        yield from ((path, _MOST_OTHERS) for path in others)


def _files_of(history: History, session: str) -> Iterator[Path]:
    """Yield the files of a history that are named after a session, and those of its sub-agents."""
    return (path for path in _files(history.path) if session in str(path.relative_to(history.path)))


class _Left(NamedTuple):
    """From which byte of a file on it is to be read yet, and how many there are."""

    start: int
    size: int


def _left(connection: Connection, path: Path) -> _Left:
    """What of a file is to be read yet: all of one that has not only grown since."""
    from palazzo.store import sources

    state = sources.read_file_state(connection, path.as_uri())
    try:
        found = path.stat()
    except OSError:
        return _Left(0, 0)
    if state is None or found.st_size < state.consumed:
        return _Left(0, found.st_size)
    is_as_it_was = (state.size, state.mtime) == (found.st_size, found.st_mtime_ns)
    return _Left(state.consumed, 0 if is_as_it_was else max(found.st_size - state.consumed, 1))


def _files(directory: Path) -> Iterator[Path]:
    left = _ENTRIES
    for folder, _, names in os.walk(directory):
        for name in names[:left]:
            yield Path(folder, name)
        left -= len(names)
        if left <= 0:
            return


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
