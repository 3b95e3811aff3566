"""hook: what an agent is given, or asked, when an event occurs in its session. The same for every host.

It returns nothing rather than noise. It never repeats what the session was given in the same epoch, and it records what
it gave in the ledger.
"""

from __future__ import annotations

import hashlib
import importlib
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from palazzo.features.hooks import hook_notices, late_starts
from palazzo.features.hooks.contract import HookRequest, HookResult
from palazzo.features.hooks.hook_answers import HANDED_OVER, SILENCE, HookAnswer, HookCall
from palazzo.injection import session_dedup
from palazzo.injection.entry_text import render_entries
from palazzo.injection.hook_events import Event, HookEvent, ToolUse

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.palace import Palace
    from palazzo.store.hook_sessions import HookSession
    from palazzo.store.ledger import Part

_HANDLERS: dict[Event, tuple[str, str]] = {
    "session-start": ("hook_start", "session_start"),
    "subagent-start": ("hook_start", "subagent_start"),
    "prompt": ("hook_prompt", "prompt"),
    "pre-tool": ("hook_tool", "pre_tool"),
    "post-tool": ("hook_tool", "post_tool"),
    "tool-failure": ("hook_tool", "tool_failure"),
    "stop": ("hook_capture", "stop"),
    "subagent-stop": ("hook_capture", "subagent_stop"),
    "pre-compact": ("hook_capture", "pre_compact"),
    "session-end": ("hook_capture", "session_end"),
}
_CAPTURES = ("stop", "subagent-stop", "pre-compact", "session-end")
"""Events that archive text; the first of them creates the palace."""
_LEAVES_A_TRACE = ("session-start", "stop", "pre-compact")
"""Events that register a session; other events register it when they inject something."""
_TELLS_A_PERSON = ("session-start", "prompt")
"""Events whose hosts show a line to the person, and which a line does not delay."""
_LONGEST_SESSION = 200
_TWINS_WITHIN = 5_000_000
"""Microseconds within which a session cannot start twice: a second start event comes from other settings that also call
our hooks.
"""


def hook(context: Context, request: HookRequest) -> HookResult:
    """Return the text or the request for an agent at this moment of its session; usually nothing."""
    if context.is_off or not context.settings.flag(f"events.{request.event}"):
        return HookResult(reason="off", tell=hook_notices.that_it_is_paused(context, request))
    captures = request.event in _CAPTURES
    context.check_palace_path()
    if request.event not in _HANDLERS or not (captures or context.has_palace):
        return HookResult(reason="nothing to do", tell=hook_notices.that_there_is_no_palace(context, request))
    began = time.perf_counter()
    hook_event = _build_event(request)
    late = late_starts.take(context, hook_event.host, hook_event.session) if hook_event.event == "prompt" else None
    if late is None:
        return _answer_event(context, hook_event, None, began)
    try:
        return _answer_event(context, hook_event, replace(hook_event, event="session-start", beginning=late), began)
    except BaseException:  # such as the end of the host's patience: the next prompt gets the orientation
        late_starts.put_back(context, hook_event.host, hook_event.session, late)
        raise


def _answer_event(context: Context, hook_event: HookEvent, start: HookEvent | None, began: float) -> HookResult:
    """Answer an event; a prompt that has no answer of its own gets the orientation of a `start` that had none."""
    session = _session(context, start or hook_event)
    call = HookCall(context, hook_event, session)
    is_wanted = hook_event.takes_answer or hook_event.event in _CAPTURES
    answer = _handler(hook_event.event)(call) if is_wanted else SILENCE
    if start is not None and not (answer.text or answer.entries) and context.settings.flag("events.session-start"):
        answer = _handler(start.event)(HookCall(context, start, session))
    return _build_result(context, hook_event, session, answer, began)


def _build_event(request: HookRequest) -> HookEvent:
    tool = request.tool
    used = None if tool is None else ToolUse(tool.name, tool.kind, tool.given, tool.output, tool.error)
    return HookEvent(
        host=request.host,
        event=request.event,
        session=_session_id(request.session),
        cwd="" if "\0" in request.cwd else request.cwd,
        transcript=request.transcript,
        beginning=request.beginning,
        prompt=request.prompt,
        tool=used,
        agent=_session_id(request.agent) if request.agent else "",
        agent_kind=request.agent_kind,
        last_message=request.last_message,
        trigger=request.trigger,
        is_continuation=request.asked,
        takes_answer=request.takes_answer,
    )


def _session_id(raw_id: str) -> str:
    """Return the session's id in its stored form: unchanged, or its hash if it is unprintable or too long."""
    if raw_id.isprintable() and len(raw_id) <= _LONGEST_SESSION:
        return raw_id or "unnamed"
    return hashlib.sha256(raw_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _handler(event: Event) -> Callable[[HookCall], HookAnswer]:
    module, name = _HANDLERS[event]
    handler: Callable[[HookCall], HookAnswer] = getattr(
        importlib.import_module(f"palazzo.features.hooks.{module}"), name
    )
    return handler


# --- the session -------------------------------------------------------------------------------------------


def _session(context: Context, hook_event: HookEvent) -> HookSession | None:
    """Return the session's record, if there is one. A new session is recorded, because injections count per epoch."""
    from palazzo.store import hook_sessions

    palace = context.writing() if hook_event.event in _CAPTURES else context.reading()
    with palace.database.snapshot() as connection:
        session = hook_sessions.find(connection, hook_event.host, hook_event.hearer)
    starts = hook_event.event == "session-start"
    if hook_event.event not in _LEAVES_A_TRACE or (session is not None and not starts):
        return session
    begins = starts and session is not None and session_dedup.begins_epoch(hook_event.beginning)
    if session is not None and hook_event.beginning == "startup" and context.now - session.epoch_at < _TWINS_WITHIN:
        begins = False
    with context.writing().database.transaction() as connection:
        return hook_sessions.record_hook(connection, hook_event.host, hook_event.hearer, context.now, begins)


# --- what is given -----------------------------------------------------------------------------------------


def _build_result(
    context: Context, hook_event: HookEvent, session: HookSession | None, answer: HookAnswer, began: float
) -> HookResult:
    """Return the text that the session has not received yet, and a line for the person."""
    text = _deliver_text(context, hook_event, session, answer, began)
    reaction = answer.reaction
    silent = not text and answer.reaction == SILENCE.reaction and hook_event.event not in _CAPTURES
    reason = "nothing to add" if silent else answer.reason
    tell = reaction.tell
    if not tell and hook_event.event in _TELLS_A_PERSON:
        tell = hook_notices.that_an_activity_failed(context, session)
    later = (answer.again, answer.checkpoint, answer.unread)
    return HookResult(text, reaction.ask, tell, reason, *later)


def _deliver_text(
    context: Context, hook_event: HookEvent, session: HookSession | None, answer: HookAnswer, began: float
) -> str:
    """Leave out what the session has received, render the rest, and record it in the ledger before handover.

    Another hook may inject into the session at the same time: if both a plugin and the settings wire our hooks, each
    event runs two.
    """
    known_uids = _read_known_uids(context.reading(), session)
    while True:
        entries = list(session_dedup.drop_delivered_items(answer.entries, known_uids))
        parts = answer.parts or tuple(entry.part for entry in entries)
        text = answer.text or render_entries(answer.head, entries)
        if not text or not session_dedup.is_news((part.uid for part in parts), known_uids):
            return ""
        took = int((time.perf_counter() - began) * 1e6)
        meanwhile = _enter(context, hook_event, session, replace(answer, text=text, parts=parts), took, known_uids)
        if meanwhile == known_uids:
            return text
        known_uids = meanwhile


def _read_known_uids(palace: Palace, session: HookSession | None) -> frozenset[str]:
    from palazzo.store import ledger

    if session is None:
        return frozenset()
    with palace.database.snapshot() as connection:
        return ledger.read_epoch_uids(connection, session.row, session.epoch)


def _enter(
    context: Context,
    hook_event: HookEvent,
    session: HookSession | None,
    answer: HookAnswer,
    took: int,
    known_uids: frozenset[str],
) -> frozenset[str]:
    """Record the injected text if the session has received nothing besides `known_uids`; return what it has
    received.
    """
    from palazzo.store import hook_sessions, ledger
    from palazzo.text.token_counts import estimate_tokens

    tokens, parts = estimate_tokens(answer.text), _select_parts(answer.parts, answer.text)
    with context.writing().database.transaction() as connection:
        active_session = session or hook_sessions.record_hook(
            connection, hook_event.host, hook_event.hearer, context.now
        )
        meanwhile = ledger.read_epoch_uids(connection, active_session.row, active_session.epoch)
        if meanwhile != known_uids:
            return meanwhile
        ledger.record(
            connection,
            active_session.row,
            active_session.epoch,
            hook_event.event,
            answer.reason,
            answer.text,
            parts,
            tokens,
            took,
            context.now,
        )
        context.report(HANDED_OVER, 1, 1)  # takes it back where nobody waits any more: what is not shown is not told
    return known_uids


def _select_parts(parts: tuple[Part, ...], text: str) -> tuple[Part, ...]:
    """Return the parts that the text names; parts that were left out for length may be injected another time."""
    return tuple(part for part in parts if part.kind == "other" or part.uid in text)
