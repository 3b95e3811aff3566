"""Echo filter: drawers that contain only words that the agent already has, from its session or its prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from palazzo.injection import echo

if TYPE_CHECKING:
    from palazzo.features.hooks.hook_answers import HookCall
    from palazzo.model import Drawer, Micros

_CAPTURE_KINDS = ("exchange", "message", "tool", "attachment", "reasoning")
"""Kinds of drawers that were captured, not written deliberately."""


def own_words(call: HookCall) -> Callable[[Drawer], bool]:
    """Return a test whether a drawer is the session's own: said in this epoch, or an echo of its prompt.

    A user's question from another session that asks the same as the prompt also counts, since it has no answer. Text
    from before a compaction may be returned again, since the agent has lost it. A session that was forked from another,
    or continues it in a file of its own, owns the messages that it has copies of.
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
    """Return the times, to the microsecond, of messages that the session has copies of; empty for most sessions."""
    from palazzo.store import transcripts

    with call.context.reading().database.snapshot() as connection:
        source = transcripts.session_source(connection, "", call.hook_event.session)
        return frozenset() if source is None else transcripts.read_copy_times(connection, source)
