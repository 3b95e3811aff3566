"""status_line: the few numbers of a session for a host's status line. It is called very often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.model import Micros
from palazzo.operations.operation import Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


@dataclass(frozen=True, slots=True)
class StatusLineRequest:
    """The session, by the host's id, if there is one."""

    session: str = ""


@dataclass(frozen=True, slots=True)
class StatusLineResult:
    """The wing, its number of drawers, the number of entries injected in the session, and the time of the last save.

    `wing` is empty if there is no palace yet. A pause without an end has no `paused_until`.
    """

    wing: str = ""
    drawers: int = 0
    told: int = 0
    saved_at: Micros | None = None
    paused: bool = False
    paused_until: Micros | None = None


def status_line(context: Context, request: StatusLineRequest) -> StatusLineResult:
    """Count what the status line shows, without writing. Without a palace, there is nothing to count."""
    from palazzo.operations.pause_state import pause_of
    from palazzo.store import palace_overview, place_rows

    pause = pause_of(context)
    is_paused, until = pause is not None or context.settings.flag("off"), None if pause is None else pause.until
    if not context.has_palace:
        return StatusLineResult(paused=is_paused, paused_until=until)
    wing = context.project_wing
    with context.reading().database.snapshot() as connection:
        drawers = palace_overview.count_drawers(connection, place_rows.scope(connection, wing, None).rooms or ())
        injection_count, saved_at = _of_session(connection, request.session) if request.session else (0, None)
    return StatusLineResult(wing, drawers, injection_count, saved_at, is_paused, until)


def _of_session(connection: Connection, session: str) -> tuple[int, Micros | None]:
    from palazzo.store import hook_sessions, ledger, transcripts

    injection_count = sum(
        len(ledger.read_session_uids(connection, hook_session.row))
        for hook_session in hook_sessions.of_id(connection, session)
    )
    source = transcripts.session_source(connection, "", session)
    return injection_count, None if source is None else transcripts.last_kept(connection, source)


OPERATION = Operation("status_line", StatusLineRequest, StatusLineResult, status_line, scope="admin")
