"""What the handlers of hooks share: what they are asked in, and what they answer with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.injection.entry_text import Entry
from palazzo.injection.hook_events import NOTHING, HookEvent, Reaction
from palazzo.model import Micros
from palazzo.store.hook_sessions import HookSession
from palazzo.store.ledger import Part

if TYPE_CHECKING:
    from palazzo.operations.context import Context

HANDED_OVER = "hook"
"""What is reported just before an answer counts as given: whoever serves the hook stops it there, if nobody waits."""
NAMED_BY = ("PALAZZO_AGENT_NAME", "MEMPALACE_AGENT_NAME")


@dataclass(frozen=True, slots=True)
class HookCall:
    """What happened, in which session. `session` is None where no hook of it left a trace yet."""

    context: Context
    hook_event: HookEvent
    session: HookSession | None

    @property
    def agent(self) -> str:
        """Whose diary and to-dos are told of: who the surroundings say it is, else the host."""
        agent_names = (self.context.variables.get(name, "").strip() for name in NAMED_BY)
        return next(filter(None, agent_names), self.hook_event.host)

    @property
    def epoch_at(self) -> Micros | None:
        """Since when the session has what was said in it; None where that is all of it.

        Before its first `/clear` or compaction it has what was said before our first hook, too.
        """
        session = self.session
        return None if session is None or session.epoch == 0 else session.epoch_at


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What a handler answers.

    `entries` are rendered under `head` and entered in the ledger, but for those that the session was told before.
    `text` is injected as it is instead, with its `parts`. A `reason` is in words of ours alone: it is kept, and no
    erase looks at it. Files to read `again` a little later may not be written to their end yet.
    `checkpoint` is the agent whose diary gets what the session came to. `unread` says why a transcript that the host
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
