"""Capture by hooks: new content of a transcript, at the end of a turn or a sub-agent and before a compaction.

`mining` reads the transcript, and the cost depends only on the new content. A transcript may lag behind the hook that
names it. If the last message is not there yet, the answer names the file, and the process that serves the hook reads it
again a little later.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.errors import PalazzoError
from palazzo.features.hooks import hook_words
from palazzo.features.hooks.hook_answers import HANDED_OVER, HookAnswer, HookCall
from palazzo.injection import cadence, compaction_notes
from palazzo.injection.hook_events import Reaction
from palazzo.injection.save_prompt import save_prompt
from palazzo.injection.tool_names import NAMES

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.hook_sessions import HookSession

_LOOKED_AT = 20
"""Recent messages of a session that are searched for its last one."""
_CATCHES_UP, _NAP = 0.4, 0.02
"""Seconds to wait for a transcript to contain the last message if a save depends on it, and the polling interval."""


def stop(call: HookCall) -> HookAnswer:
    """Ingest new messages, and ask for a save when one is due."""
    path = transcript_of(call.context, call.hook_event.transcript)
    if path is not None:
        take_in(call.context, path)
    else:
        hook_words.keep(call)
    _note_uses(call)
    pending_paths = _lags(call, path)
    if pending_paths and path is not None and _is_nearly_due(call, path):
        pending_paths = _caught_up(call, path)
    reaction = _request_save(call, path) if call.session is not None and call.hook_event.takes_answer else Reaction()
    return HookAnswer("a turn has ended", reaction=reaction, again=pending_paths, unread=_unread(call))


def subagent_stop(call: HookCall) -> HookAnswer:
    """Ingest a sub-agent's transcript."""
    path = transcript_of(call.context, call.hook_event.transcript)
    if path is not None:
        take_in(call.context, path)
    _note_uses(call)
    if path is None:
        return HookAnswer(unread=_unread(call))
    return HookAnswer("a sub-agent has ended", again=_lags(call, path))


def _note_uses(call: HookCall) -> None:
    """Record which injected memories the agent visibly used, in the ingested messages and in its last message."""
    from palazzo.features.ledger.usage import note_captured, note_cited

    path = transcript_of(call.context, call.hook_event.transcript)
    if path is not None:
        note_captured(call.context, path.as_uri(), call.session)
    if call.session is not None:
        note_cited(call.context, call.session, call.hook_event.last_message)


def session_end(call: HookCall) -> HookAnswer:
    """Only return the file to read again later: hosts wait no longer than one second for this hook."""
    path = transcript_of(call.context, call.hook_event.transcript)
    if path is None:
        hook_words.keep(call)
    checkpoint = call.agent if call.context.settings.flag("auto_commit") else ""
    pending_paths = () if path is None else (path,)
    return HookAnswer("the session has ended", again=pending_paths, checkpoint=checkpoint, unread=_unread(call))


def pre_compact(call: HookCall) -> HookAnswer:
    """Archive the whole transcript before it is compacted. Raises PalazzoError if no sufficient source was read."""
    context, hook_event = call.context, call.hook_event
    is_captured = False
    last_error: PalazzoError | None = None
    for target in compaction_notes.targets(context.variables, hook_event.transcript, hook_event.cwd):
        path = _permit_path(context, target.path, target.sufficient)
        if path is None:
            continue
        try:
            take_in(context, path)
        except PalazzoError as error:
            last_error = error
            continue
        if target.sufficient:
            is_captured = True
            break
    if last_error is not None and not is_captured:
        raise last_error
    return HookAnswer("a compaction begins", unread="" if is_captured else _unread(call))


# --- what may be read --------------------------------------------------------------------------------------


def transcript_of(context: Context, raw_path: str) -> Path | None:
    """Return the transcript that a host names, if it is a file in an allowed place."""
    return None if why_unread(context, raw_path) else _path(raw_path)


def _unread(call: HookCall) -> str:
    return why_unread(call.context, call.hook_event.transcript) if call.hook_event.transcript else ""


def why_unread(context: Context, raw_path: str) -> str:
    """Return why the file that a host names as a transcript is not read; empty if it is read."""
    path = _path(raw_path)
    if path is None:
        return "the transcript path is not absolute"
    try:
        if not path.exists():
            return "the transcript does not exist"
        if not path.is_file():
            return "the transcript is not a file"
    except OSError as error:
        return f"the transcript cannot be accessed ({error.strerror})"
    return "" if _permit_path(context, path, True) is not None else "the transcript is not in any host's history"


def _path(raw_path: str) -> Path | None:
    """Return the path that a host names; None if it is invalid or relative."""
    if not raw_path or "\0" in raw_path:
        return None
    try:
        path = Path(raw_path).expanduser()
    except RuntimeError:  # `~somebody`, whom nobody knows
        return None
    return path if path.is_absolute() else None


def _permit_path(context: Context, path: Path, sufficient: bool) -> Path | None:
    """Return the path if it is in a host's history or a place that the person named, or is the working directory.

    Otherwise any caller of a hook could have any file read.
    """
    try:
        whole = path.resolve()
    except (OSError, RuntimeError):
        return None
    inside = any(whole.is_relative_to(home.resolve()) for home in _homes(context))
    return path if inside or (not sufficient and path == context.cwd) else None


def _homes(context: Context) -> Iterator[Path]:
    """Yield the places that the person named, and each host's histories, of which most are not needed."""
    from palazzo.hosts.host_histories import histories
    from palazzo.hosts.host_registry import hosts

    yield from (Path(context.variables[name]) for name in compaction_notes.NAMED_BY if context.variables.get(name))
    for host in hosts():
        yield from (history.path for history in histories(context.variables, (host.name,), context.project_root))


# --- taking in ---------------------------------------------------------------------------------------------


def take_in(context: Context, path: Path) -> None:
    """Ingest what is new in a transcript, or in a directory of them. Raises PalazzoError if it cannot be read."""
    from palazzo.features.service.background_process import start_embedding
    from palazzo.operations.watched_sources import of_history
    from palazzo.sources.mining_run import mine

    palace, request = context.writing(), of_history(context, path)
    # However short: `min_messages` keeps out what is found lying about, and this session is being held.
    session_filter = replace(request.wanted, least_messages=0)
    report = mine(palace.database, palace.clock, replace(request, wanted=session_filter))
    for failed in report.failed:
        raise PalazzoError(failed.error)
    if report.items:
        start_embedding(context, insist=False)


def _lags(call: HookCall, path: Path | None) -> tuple[Path, ...]:
    """Return the transcript if it does not exist yet, or does not contain the agent's last message yet."""
    from palazzo.store import transcripts

    last = call.hook_event.last_message.strip()
    if path is None:
        return _find_expected_file(call.context, call.hook_event.transcript)
    if not last:
        return ()
    with call.context.reading().database.snapshot() as connection:
        source = transcripts.session_source(connection, path.as_uri(), call.hook_event.session)
        recent_texts = [] if source is None else transcripts.last_texts(connection, source, _LOOKED_AT)
    return () if any(last in text for text in recent_texts) else (path,)


def _caught_up(call: HookCall, path: Path) -> tuple[Path, ...]:
    """Return what still lags after the host has had time to write, which takes it about 0.1 s."""
    until, last_size = time.monotonic() + _CATCHES_UP, -1
    pending_paths: tuple[Path, ...] = (path,)
    while pending_paths and time.monotonic() < until:
        time.sleep(_NAP)
        try:
            size = path.stat().st_size
        except OSError:  # it has gone: there is no more to come
            break
        if size != last_size:
            take_in(call.context, path)
            pending_paths, last_size = _lags(call, path), size
    return pending_paths


def _find_expected_file(context: Context, raw_path: str) -> tuple[Path, ...]:
    """Return the file that a host names before it has written it."""
    path = _path(raw_path)
    try:
        is_to_come = path is not None and not path.exists() and _permit_path(context, path, True) is not None
    except OSError:
        return ()
    return (path,) if path is not None and is_to_come else ()


# --- asking for a save -------------------------------------------------------------------------------------


def _request_save(call: HookCall, path: Path | None) -> Reaction:
    from palazzo.store import hook_sessions

    context, session = call.context, call.session
    if session is None:
        return Reaction()
    humans = _humans(call, session, "" if path is None else path.as_uri())
    interval = context.settings.number("save_interval")
    if not cadence.is_due(humans, session.saved_at, interval, call.hook_event.is_continuation):
        return Reaction()
    asks = context.settings.text("save_mode") == "ask"
    with context.writing().database.transaction() as connection:
        if not hook_sessions.record_save(connection, session.row, humans):
            return Reaction()  # of two hooks at once, the other one asks
        if asks:
            context.report(HANDED_OVER, 1, 1)  # takes it back where nobody waits any more: the next turn's end asks
    if not asks:
        return Reaction(tell=_said_to_be_kept(context, humans))
    names = NAMES[context.settings.text("profile")]
    return Reaction(ask=save_prompt(call.agent, humans - session.saved_at, names))


def _is_nearly_due(call: HookCall, path: Path) -> bool:
    """Return whether a save becomes due with one more message, which the transcript may not contain yet."""
    if call.session is None:
        return False
    humans = _humans(call, call.session, path.as_uri())
    about = (call.session.saved_at, call.context.settings.number("save_interval"), call.hook_event.is_continuation)
    return cadence.is_due(humans + 1, *about) and not cadence.is_due(humans, *about)


def _humans(call: HookCall, session: HookSession, uri: str) -> int:
    """Return how many messages the person has sent in the session: those counted before, and new ones."""
    from palazzo.store import human_counts, transcripts

    context = call.context
    with context.reading().database.snapshot() as connection:
        source = transcripts.session_source(connection, uri, call.hook_event.session)
        if source is None:
            return 0
        previous_count = human_counts.so_far(connection, session.row, source)
        new = list(transcripts.from_users(connection, source, previous_count.item))
    if not new:
        return previous_count.humans
    humans = previous_count.humans + sum(cadence.is_human(text, parts) for _, text, parts in new)
    with context.writing().database.transaction() as connection:
        human_counts.note(connection, session.row, source, human_counts.HumanCount(humans, new[-1][0]))
    return humans


def _said_to_be_kept(context: Context, humans: int) -> str:
    """Notify the person on the desktop that a session is being saved, if they want that; return the same text."""
    if not context.settings.flag("desktop_toast"):
        return ""
    from palazzo.features.hooks import toast

    words = f"Saved {humans} of your messages in {context.project.name}."
    toast.show(words, context.variables)
    return words
