"""The newest notes of teammates in a wake-up text: asked for while the palace is read, and waited for a moment.

Only what teammates wrote themselves is told unasked, never what their tools or web pages said.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TYPE_CHECKING

from palazzo.errors import PalazzoError
from palazzo.features.search import team_hits
from palazzo.injection.wake_up_text import WakeUpEntry
from palazzo.model import Micros
from palazzo.security.display_names import plain_name, shown_name

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.team.client.team_connection import SharedHit

SECONDS, LIMIT = 0.15, 6
"""How long a session's start waits for the team from when it began to ask, and for how many notes."""
IS_LATE = "The team's server did not answer in time: nothing here is from teammates."
_TEAMMATE = "teammate"


class TeamNotes:
    """A request for the notes of teammates that is under way, or none."""

    def __init__(self, answer: Future[list[SharedHit]] | None) -> None:
        self._answer, self._deadline = answer, time.monotonic() + SECONDS

    def wait(self, trusts: Collection[str]) -> tuple[list[WakeUpEntry], str]:
        """Return the notes as entries, and what to say if the team did not answer in time.

        There are none for an agent that may not be told what agents said: a teammate is below the user, too.
        """
        if self._answer is None or "agent" not in trusts:
            return [], ""
        try:
            notes = self._answer.result(max(self._deadline - time.monotonic(), 0.0))
        except (FutureTimeoutError, PalazzoError):
            return [], IS_LATE
        return [_make_entry(note) for note in notes if note.trust == _TEAMMATE], ""


def ask_for_notes(context: Context) -> TeamNotes:
    """Ask for the project's wing, if the setting `team.search` is on and the palace has joined a team."""
    wing = context.project_wing if context.settings.flag("team.search") and context.is_in_project else None
    if wing is None:
        return TeamNotes(None)
    return TeamNotes(team_hits.ask_for_notes(context, wing, LIMIT, SECONDS))


def _make_entry(note: SharedHit) -> WakeUpEntry:
    return WakeUpEntry(
        "team", plain_name(note.id), Micros(note.created_at), f"teammate {shown_name(note.person)}", note.text, "agent"
    )
