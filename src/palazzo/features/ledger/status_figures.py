"""status_line: the few numbers of a session for a host's status line. It is called very often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.ledger.contract import StatusLineRequest, StatusLineResult
from palazzo.model import Micros
from palazzo.operations.pause_state import pause_of
from palazzo.store import hook_sessions, ledger, palace_overview, place_rows, transcripts

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


def status_line(context: Context, request: StatusLineRequest) -> StatusLineResult:
    """Count what the status line shows, without writing. Without a palace, there is nothing to count."""
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
    injection_count = sum(
        len(ledger.read_session_uids(connection, hook_session.row))
        for hook_session in hook_sessions.of_id(connection, session)
    )
    source = transcripts.session_source(connection, "", session)
    return injection_count, None if source is None else transcripts.last_kept(connection, source)
