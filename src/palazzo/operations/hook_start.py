"""When a session or a sub-agent begins: it is oriented, once in an epoch, and told the same as long as that lasts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from palazzo.attention.rendering import MOST
from palazzo.guard.fences import fenced
from palazzo.operations.hook_answers import SILENCE, Asked, Told
from palazzo.operations.hook_capture import transcript_of
from palazzo.store.ledger import Part

if TYPE_CHECKING:
    from palazzo.operations.wake_up import Depth, WakeUpResult

_BUDGETS = (None, 1_500, 900)
"""Tokens: what the depth says, and less where the text would be too long for a host all the same."""
_LONGEST_NAME = 200
_ID_LENGTH = 32
"""Hexadecimal digits of an id of ours; a session's id is its host's."""


def session_start(asked: Asked) -> Told:
    """Orient an agent whose session begins. One that goes on (`resume`, `fork`) has what it was told.

    Where it goes on in a file of its own, what that has copies of is not handed back to it once they are read.
    """
    if asked.happening.beginning in ("resume", "fork"):
        path = transcript_of(asked.context, asked.happening.transcript) if asked.happening.transcript else None
        return SILENCE if path is None else Told(again=(path,))
    if not asked.context.settings.flag("auto_context_on_start"):
        return SILENCE
    return oriented(asked, None)


def subagent_start(asked: Asked) -> Told:
    """Orient a sub-agent in a few lines: it knows nothing of what its parent was told."""
    return oriented(asked, "shallow")


def oriented(asked: Asked, depth: Depth | None) -> Told:
    """Return the orientation of a session (or of a sub-agent of it), the same for all of an epoch."""
    for budget in _BUDGETS:
        woken = _woken(asked, depth, budget)
        if not woken.lines:
            return SILENCE
        text = fenced(woken.text)
        if len(text) <= MOST:
            return Told(f"a session begins, {woken.depth}", text=text, parts=tuple(_parts(woken)))
    return SILENCE


def _woken(asked: Asked, depth: Depth | None, budget: int | None) -> WakeUpResult:
    from palazzo.operations.wake_up import WakeUpRequest, wake_up

    happening, session = asked.happening, asked.session
    name = f"{happening.host}:{happening.hearer}"
    if len(name) > _LONGEST_NAME:
        name = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    epoch = session.epoch if session is not None else 0
    request = WakeUpRequest(
        depth=depth,
        budget=budget,
        session=name,
        agent=asked.agent,
        hurry=True,
        epoch=epoch,
        host_session=happening.session,
    )
    return wake_up(asked.context, request)


def _parts(woken: WakeUpResult) -> Iterator[Part]:
    for line in woken.lines:
        if len(line.id) == _ID_LENGTH and not set(line.id) - set("0123456789abcdef"):
            yield Part("other", line.id)
        else:
            yield Part("other", hashlib.sha256(line.id.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LENGTH])
