"""Taint of the caller: whether its session has read untrusted content. `security/note_taint` defines the consequences.

The archive shows what a session has read, so new content of its transcript is archived first. `security/call_origin`
says which session the caller names. That session's transcripts are searched for in all directories where hosts keep
them, whatever directory the command runs in. If a caller names no session, or only sessions that cannot be read, every
session that may be the caller's counts (`CallerReach`). An unknown session is never treated as untainted.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from palazzo.errors import UsageError
from palazzo.index.memory_calls import answers_of_memory
from palazzo.model import Trust
from palazzo.operations.caller_sessions import CallerReach, changed_at, sources_in_reach
from palazzo.operations.unarchived_transcripts import content_of
from palazzo.operations.watched_sources import WatchTargets, histories_here, what_changed
from palazzo.security.call_origin import caller_of
from palazzo.security.memory_tools import is_memory_tool, is_writing_tool
from palazzo.security.note_taint import AGENT, PERSON, TrustAssessment, assess_trust, from_outside, is_agents
from palazzo.sources.mining_run import mine
from palazzo.store import hook_sessions, source_rows, taint_queries
from palazzo.store.taint_queries import AUTHORED_KINDS

if TYPE_CHECKING:
    from palazzo.hosts.host_histories import History
    from palazzo.operations.context import Context
    from palazzo.sources.mining_report import MineRequest
    from palazzo.store.database import Connection
    from palazzo.store.taint_queries import Outsider

USER, UNNAMED_AGENT = "user", "agent"
"""The actor of a person's changes, and of those of an agent whose client states no name."""
_READING = 1.0
"""Seconds after which no further transcript is started."""
_MOST_OWN, _MOST_OTHERS, _ANY_SIZE = 1_000_000, 8_000_000, 1 << 62
"""The most bytes of a transcript that a call waits to ingest: its own session's, another session's, any size. A longer
transcript of its own session is only read.
"""
_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
_HAS_READ_UNTRUSTED = "this session has read untrusted content"
_APPROVE = "a person can approve it with 'palazzo quarantine approve'"


def speaks(context: Context) -> Trust:
    """Return whether a person or an agent calls; a command typed in an agent's shell counts as the agent's."""
    return "agent" if context.trust == "user" and is_agents(context.variables) else context.trust


def change_actor(context: Context) -> str:
    """Return whose change a call makes: `user` for a person, else the agent's name as its client states it.

    A client that calls itself `user` is not the person.
    """
    if speaks(context) == "user":
        return USER
    name = caller_of(context.variables, context.trust == "user").host
    return name if name not in ("", USER) else UNNAMED_AGENT


def whom_to_believe(context: Context, *wings: str | None) -> TrustAssessment:
    """Return the trust of this caller's writing to wings, with the untrusted items that lowered it.

    If it is lower, a notice says so and why.
    """
    if speaks(context) == "user":
        return PERSON
    verdict = _judge(context, wings)
    if verdict.belief.trust == "external":
        context.notice(f"Filed in quarantine, because {verdict.reason or _HAS_READ_UNTRUSTED}: {_APPROVE}.")
    return verdict.belief


def an_agents(context: Context, *wings: str | None) -> TrustAssessment:
    """Return the trust of a diary entry, which counts as an agent's even if a person types it."""
    belief = whom_to_believe(context, *wings)
    return AGENT if belief == PERSON else belief


def unless_tainted(context: Context, action: str, *wings: str | None) -> None:
    """Raise if the caller's session has read untrusted content: its `action` would change at once what is trusted."""
    if speaks(context) == "user":
        return
    verdict = _judge(context, wings)
    if verdict.belief.trust == "external":
        why = verdict.reason or _HAS_READ_UNTRUSTED
        raise UsageError(f"Refused, because {why}. Such a session cannot {action}; a person can, in a terminal.")


def is_tainted(context: Context) -> bool:
    """Return whether an agent calls whose session has read untrusted content, or is unknown."""
    return speaks(context) != "user" and _judge(context, ()).belief.trust == "external"


class _Verdict(NamedTuple):
    """The trust level, and, if the agent's session is unknown, the reason as the end of a sentence."""

    belief: TrustAssessment
    reason: str = ""


def _judge(context: Context, wings: Sequence[str | None]) -> _Verdict:
    """Judge a calling agent by the sessions that may be its own."""
    trust = speaks(context)
    reach = CallerReach(context, caller_of(context.variables, context.trust == "user"), wings)
    archived_files = _take_in_what_is_new(context, reach) if context.has_palace and not context.is_off else frozenset()
    sources = sources_in_reach(reach) if context.has_palace else []
    untrusted_items = _untrusted_items(context, sources)
    if untrusted_items:
        return _Verdict(assess_trust(trust, untrusted_items))
    content = content_of(_unread(context, reach, archived_files), reach.holds_directory)
    if content == "untrusted":
        return _Verdict(TrustAssessment("external"))
    reason = reach.why_unknown()
    if content == "unreadable" and reach.caller.sessions:
        reason = reason or "the transcript of its session cannot be read"
    return _Verdict(TrustAssessment("external"), reason) if reason else _Verdict(TrustAssessment(trust))


def _untrusted_items(context: Context, sources: Sequence[int]) -> list[str]:
    if not sources:
        return []
    with context.reading().database.snapshot() as connection:
        return met_in(connection, sources)


def met_in(connection: Connection, sources: Sequence[int]) -> list[str]:
    """Return the ids of the untrusted items that sessions have read: by a tool, or from the memory."""
    recalled_items = taint_queries.outsiders_called(connection, _told_by_memory(connection, sources))
    return origins([*taint_queries.outsiders(connection, sources), *recalled_items])


def origins(untrusted_items: Sequence[Outsider]) -> list[str]:
    """Return the ids of items that are untrusted themselves, not of items that were said after them.

    A note counts by itself: it stands for what its writer had read.
    """
    return list(dict.fromkeys(item.uid for item in untrusted_items if item.kind in AUTHORED_KINDS or _is_origin(item)))


def _is_origin(item: Outsider) -> bool:
    """Return whether an item itself is marked, or known, as untrusted content."""
    return item.is_met or bool(from_outside(item.trust, item.parts, item.size))


def _told_by_memory(connection: Connection, sources: Sequence[int]) -> frozenset[str]:
    """Return the ids in a memory's answers to these sessions; some of them may be of untrusted content."""
    rows = taint_queries.tool_rows(connection, sources)
    memory_call_ids = answers_of_memory(rows)
    item_ids: set[str] = set()
    for text, parts in rows:
        for part in parts:
            is_memory_read = is_memory_tool(part.name) and not is_writing_tool(part.name)
            if part.kind == "tool_result" and (is_memory_read or part.call in memory_call_ids):
                item_ids.update(_ID.findall(text, part.start, part.end))
    return frozenset(item_ids)


# --- what is new in their transcripts ----------------------------------------------------------------------


def _take_in_what_is_new(context: Context, reach: CallerReach) -> frozenset[Path]:
    """Ingest the rest of the transcripts that may be the caller's, as far as that is quick; return those read."""
    histories = _histories(context, reach)
    sizes = dict(change for history in histories for change in _changed(history, reach))
    with context.reading().database.snapshot() as connection:
        changed = [path for path, most in sizes.items() if 0 < _measure_unread(connection, path).size <= most]
    if not changed:
        return frozenset()
    read: set[Path] = set()
    write_callback, context.on_writing = (
        context.on_writing,
        None,
    )  # what a session said is kept whatever comes of this call
    try:
        palace = context.writing()
        newest = sorted(what_changed(context, WatchTargets(histories), changed), key=_last_changed, reverse=True)
        began = time.monotonic()
        for n, request in enumerate(newest):  # the caller's own was written to just now: it is read in any case
            if n and time.monotonic() - began > _READING:
                break
            mine(palace.database, palace.clock, replace(request, wanted=replace(request.wanted, least_messages=0)))
            read.update(request.paths)
    finally:
        context.on_writing = write_callback
    return frozenset(read)


def _last_changed(request: MineRequest) -> float:
    return max((changed_at(path) for path in request.paths), default=0.0)


def _unread(context: Context, reach: CallerReach, archived_files: Collection[Path]) -> list[tuple[Path, int]]:
    """Return the files of the caller's possible sessions that are not fully archived, and from which byte on.

    These are the files of the named session; if none is known, every file that changed recently, the newest first.
    """
    other_files = reach.later_files() if reach.is_named else reach.recent_files()
    paths = list(dict.fromkeys((*reach.named_files, *other_files)))
    if not context.has_palace:
        return [(path, 0) for path in paths]
    with context.reading().database.snapshot() as connection:
        unread = {path: _measure_unread(connection, path) for path in paths if path not in archived_files}
    return [(path, unread_part.start) for path, unread_part in unread.items() if unread_part.size]


def _histories(context: Context, reach: CallerReach) -> tuple[History, ...]:
    """Return the histories that may be archived: those that the user mines, and those of hosts with hooks."""
    with context.reading().database.snapshot() as connection:
        hook_hosts = hook_sessions.hosts(connection)
    mined_histories = histories_here(context, mined_hosts_only=True)
    return mined_histories + tuple(
        history for history in reach.histories if history.host in hook_hosts and history not in mined_histories
    )


def _changed(history: History, reach: CallerReach) -> Iterator[tuple[Path, int]]:
    """Yield files of the named session; if none has its name, or it may be another one, recently changed files.

    Each comes with the maximum number of unread bytes for which it is ingested.
    """
    if not history.path.is_dir():
        yield from ((path, _ANY_SIZE) for path in reach.recent_in(history))
        return
    own = [path for path in reach.named_files if path.is_relative_to(history.path)]
    yield from ((path, _MOST_OWN) for path in own)
    if not own or not reach.caller.is_certain:
        yield from ((path, _MOST_OTHERS) for path in reach.recent_in(history) if path not in own)


class _UnreadRange(NamedTuple):
    """The offset of the unread part of a file, and its size in bytes."""

    start: int
    size: int


def _measure_unread(connection: Connection, path: Path) -> _UnreadRange:
    """Return the unread part of a file: all of it, unless it has only grown since it was read."""
    state = source_rows.read_file_state(connection, path.as_uri())
    try:
        file_stat = path.stat()
    except OSError:
        return _UnreadRange(0, 0)
    if state is None or file_stat.st_size < state.consumed:
        return _UnreadRange(0, file_stat.st_size)
    is_as_it_was = (state.size, state.mtime) == (file_stat.st_size, file_stat.st_mtime_ns)
    return _UnreadRange(state.consumed, 0 if is_as_it_was else max(file_stat.st_size - state.consumed, 1))
