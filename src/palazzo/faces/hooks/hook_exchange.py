"""From a host's hook payload to its answer: always an answer that the host accepts, whatever the input.

Nothing in here raises. For input that cannot be interpreted, `log` gets one line and the answer adds nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from palazzo.errors import PalazzoError
from palazzo.faces.hooks.hook_faults import Faults
from palazzo.features.hooks.contract import HookRequest, HookResult, ToolCall
from palazzo.hosts.adapter import Answer, HostAdapter
from palazzo.hosts.host_registry import find_adapter
from palazzo.injection.hook_events import NOTHING as NO_REACTION
from palazzo.injection.hook_events import Event, HookEvent, Reaction

LARGEST = 10 << 20
"""Maximum bytes of a payload that are read. Nobody types a prompt of ten megabytes."""
NOTHING = b"{}\n"
"""The empty answer, for every host."""
_ANY_REACTION = Reaction(inject="text", ask="text", tell="text")
"""An adapter that writes nothing for this has no way to show an answer to the event: none is made."""

Ask = Callable[[HookRequest, str], HookResult]
"""Runs the hook in the directory that the payload names."""
Log = Callable[[str], None]


def answer(host: str, event: str, payload: bytes, ask: Ask, log: Log, faults: Faults | None = None) -> bytes:
    """Return the answer to a host's event, by the host's name for it or by Palazzo's.

    `faults` makes the answer if the hook fails; without it that answer is empty.
    """
    adapter = find_adapter(host)
    canonical_event = None if adapter is None else adapter.events.get(event)
    if adapter is None or canonical_event is None:
        log(f"hook {host[:40]!r} {event[:40]!r}: not known")
        return NOTHING
    try:
        session_event = _read(adapter, canonical_event, payload)
    except (ValueError, RecursionError) as error:
        log(f"hook {host} {canonical_event}: {error}")
        return NOTHING
    return (
        NOTHING if session_event is None else _answer_event(adapter, canonical_event, session_event, ask, log, faults)
    )


def _read(adapter: HostAdapter, event: Event, payload: bytes) -> HookEvent | None:
    if len(payload) > LARGEST:
        raise ValueError(f"the payload of {len(payload):,} bytes is too large and was not read")
    read = json.loads(payload.decode("utf-8-sig", "replace"))
    if not isinstance(read, dict):
        raise ValueError(f"the payload is not an object but a {type(read).__name__}")
    return adapter.read(event, read)


def _answer_event(
    adapter: HostAdapter, event: Event, session_event: HookEvent, ask: Ask, log: Log, faults: Faults | None
) -> bytes:
    """Return the answer in the shape of the host's event. `session_event` may be of another kind."""
    try:
        takes_answer = bool(adapter.write(event, _ANY_REACTION))
        result = ask(replace(_request(session_event), takes_answer=takes_answer), session_event.cwd)
    except Exception as error:  # noqa: BLE001 - an agent must not stop because of its memory; the log names the error
        is_bug = not isinstance(error, (PalazzoError, OSError))
        log(f"hook {adapter.name} {event}: {f'this is a bug in Palazzo ({type(error).__name__})' if is_bug else error}")
        reaction = NO_REACTION if faults is None else faults.react(adapter, event, session_event, error)
        return _bytes(adapter.write(event, reaction))
    if event == "pre-compact" and faults is not None:
        faults.note_capture(adapter, session_event)
    return _bytes(adapter.write(event, Reaction(result.inject, result.ask, result.tell)))


def _request(session_event: HookEvent) -> HookRequest:
    tool = session_event.tool
    call = None if tool is None else ToolCall(tool.name, tool.kind, dict(tool.arguments), tool.output, tool.error)
    return HookRequest(
        host=session_event.host,
        event=session_event.event,
        session=session_event.session,
        cwd=session_event.cwd,
        transcript=session_event.transcript,
        beginning=session_event.beginning,
        prompt=session_event.prompt,
        tool=call,
        agent=session_event.agent,
        agent_kind=session_event.agent_kind,
        last_message=session_event.last_message,
        trigger=session_event.trigger,
        asked=session_event.is_continuation,
    )


def _bytes(answer: Answer) -> bytes:
    plain: dict[str, Any] = dict(answer)
    try:
        return json.dumps(plain, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # archived words may hold lone surrogates, which JSON writes as escapes
        return json.dumps(plain).encode() + b"\n"
