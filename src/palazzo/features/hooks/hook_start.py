"""The hook for the start of a session or sub-agent: an orientation, given once per epoch, identical within it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from palazzo.features.hooks.hook_answers import SILENCE, HookAnswer, HookCall
from palazzo.features.hooks.hook_capture import transcript_of
from palazzo.injection.entry_text import MOST
from palazzo.security.fences import fence_text
from palazzo.store.ledger import Part

if TYPE_CHECKING:
    from palazzo.features.wakeup.contract import Depth, WakeUpResult

_BUDGETS = (None, 1_500, 900)
"""Token budgets: first that of the depth, then smaller ones if the text is still too long for a host."""
_LONGEST_NAME = 200
_ID_LENGTH = 32
"""Hexadecimal digits of our own ids; the id of a session is the host's."""


def session_start(call: HookCall) -> HookAnswer:
    """Orient an agent whose session begins. A continued one (`resume`, `fork`) has its orientation already.

    If it continues in a file of its own, messages that the file copies are not returned to it after that file is read.
    """
    if call.hook_event.beginning in ("resume", "fork"):
        path = transcript_of(call.context, call.hook_event.transcript) if call.hook_event.transcript else None
        return SILENCE if path is None else HookAnswer(again=(path,))
    if not call.context.settings.flag("auto_context_on_start"):
        return SILENCE
    return build_orientation(call, None)


def subagent_start(call: HookCall) -> HookAnswer:
    """Orient a sub-agent in a few lines; it does not know what its parent received."""
    return build_orientation(call, "shallow")


def build_orientation(call: HookCall, depth: Depth | None) -> HookAnswer:
    """Return the orientation of a session or of its sub-agent; it is the same throughout an epoch."""
    for budget in _BUDGETS:
        orientation = _run_wake_up(call, depth, budget)
        if not orientation.lines:
            return SILENCE
        text = fence_text(orientation.text)
        if len(text) <= MOST:
            return HookAnswer(f"a session begins, {orientation.depth}", text=text, parts=tuple(_parts(orientation)))
    return SILENCE


def _run_wake_up(call: HookCall, depth: Depth | None, budget: int | None) -> WakeUpResult:
    from palazzo.features.wakeup.contract import WakeUpRequest
    from palazzo.features.wakeup.wake_up import wake_up

    hook_event, session = call.hook_event, call.session
    name = f"{hook_event.host}:{hook_event.hearer}"
    if len(name) > _LONGEST_NAME:
        name = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    epoch = session.epoch if session is not None else 0
    request = WakeUpRequest(
        depth=depth,
        budget=budget,
        session=name,
        agent=call.agent,
        hurry=True,
        epoch=epoch,
        host_session=hook_event.session,
    )
    return wake_up(call.context, request)


def _parts(orientation: WakeUpResult) -> Iterator[Part]:
    for line in orientation.lines:
        if len(line.id) == _ID_LENGTH and not set(line.id) - set("0123456789abcdef"):
            yield Part("other", line.id)
        else:
            yield Part("other", hashlib.sha256(line.id.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LENGTH])
