"""Types that hook handlers share: their input and their answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.frozen_class import frozen
from palazzo.injection.entry_text import Entry
from palazzo.injection.hook_events import NOTHING, HookEvent, Reaction
from palazzo.model import Micros
from palazzo.store.hook_sessions import HookSession
from palazzo.store.ledger import Part

if TYPE_CHECKING:
    from palazzo.operations.context import Context

HANDED_OVER = "hook"
"""Reported just before an answer counts as delivered: the server of the hook stops it there if no client waits any
more.
"""
NAMED_BY = ("PALAZZO_AGENT_NAME", "MEMPALACE_AGENT_NAME")


@frozen
class HookCall:
    """The event and its session. `session` is None if no hook has registered it yet."""

    context: Context
    hook_event: HookEvent
    session: HookSession | None

    @property
    def agent(self) -> str:
        """Return the agent whose diary and to-dos are used: the one that the environment names, else the host."""
        agent_names = (self.context.variables.get(name, "").strip() for name in NAMED_BY)
        return next(filter(None, agent_names), self.hook_event.host)

    @property
    def epoch_at(self) -> Micros | None:
        """Return the start of the messages that the session still has in context; None if it has all of them.

        Before its first `/clear` or compaction, it also has the messages from before our first hook.
        """
        session = self.session
        return None if session is None or session.epoch == 0 else session.epoch_at


@frozen
class HookAnswer:
    """The answer of a handler.

    `entries` are rendered under `head` and recorded in the ledger, except those that the session received before. If
    `text` is set, it is injected unchanged instead, with its `parts`. A `reason` contains only our own words: it is
    stored, and erase does not search it. Files to read `again` a little later may not be completely written yet.
    `checkpoint` is the agent whose diary gets a summary of the session. `unread` says why a transcript that the host
    names was not read.
    """

    reason: str = ""
    head: str = ""
    entries: tuple[Entry, ...] = ()
    text: str = ""
    parts: tuple[Part, ...] = ()
    reaction: Reaction = NOTHING
    again: tuple[Path, ...] = ()
    checkpoint: str = ""
    unread: str = ""


SILENCE = HookAnswer()
