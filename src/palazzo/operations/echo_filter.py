"""Which drawers have nothing but words that an agent has before it: its session said them, or its prompt does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from palazzo.injection import echo

if TYPE_CHECKING:
    from palazzo.features.hooks.hook_answers import HookCall
    from palazzo.model import Drawer, Micros

_CAPTURE_KINDS = ("exchange", "message", "tool", "attachment")
"""Kinds of drawers that were captured, and not written by somebody to be kept."""


def own_words(call: HookCall) -> Callable[[Drawer], bool]:
    """Return what says of a drawer whether the session said it itself: in this epoch, or just now with other words.

    So is a question that was left without an answer elsewhere, and says no more than the prompt.
    What was said before a compaction may come again, since the agent has lost it. A session that was forked from
    another, or goes on from it in a file of its own, has what it has copies of.
    """
    session, since = call.hook_event.session, call.epoch_at
    words, copy_times = echo.words(call.hook_event.prompt), _read_copy_times(call)

    def is_own(drawer: Drawer) -> bool:
        if drawer.kind not in _CAPTURE_KINDS:
            return False
        if drawer.source.session_id != session and drawer.created_at not in copy_times:
            return drawer.role == "user" and echo.asks_the_same(words, drawer.text)
        return since is None or drawer.created_at >= since or echo.is_echo(words, drawer.text)

    return is_own


def _read_copy_times(call: HookCall) -> frozenset[Micros]:
    """The moments, to the microsecond, of what the session has copies of; of most sessions none."""
    from palazzo.store import transcripts

    with call.context.reading().database.snapshot() as connection:
        source = transcripts.session_source(connection, "", call.hook_event.session)
        return frozenset() if source is None else transcripts.read_copy_times(connection, source)
