"""What the person is told, once in a session, when memory is not whole: one line that says what and why.

The agent is told nothing of it. Where a host has no way to tell a person, nobody is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from palazzo.features.hooks.hook import HookRequest
    from palazzo.operations.context import Context
    from palazzo.store.hook_sessions import HookSession

_LONGEST_REASON = 200
_BEGINNINGS = ("startup", "clear")


def that_it_is_paused(context: Context, request: HookRequest) -> str:
    """Return the line for a session that begins in a pause; empty otherwise. PALAZZO_OFF is the person's own word."""
    from palazzo.operations.pause_state import pause_of

    pause = pause_of(context) if request.event == "session-start" else None
    return "" if pause is None else f"Palazzo is {pause}: nothing is kept or told. 'palazzo resume' ends it."


def that_there_is_no_palace(context: Context, request: HookRequest) -> str:
    """Return the line for a session that begins with nothing to remember; empty otherwise."""
    if context.has_palace or request.event != "session-start" or request.beginning not in _BEGINNINGS:
        return ""
    return (
        f"Palazzo remembers nothing yet: there is no palace at {context.palace_path}. It is made when a turn ends;"
        " 'palazzo mine' takes in what was before."
    )


def that_an_activity_failed(context: Context, session: HookSession | None) -> str:
    """Return the line about an activity that failed in the background; once in a session, which is then recorded."""
    from palazzo.features.service.background_process import EMBEDDING_ACTIVITY, failures
    from palazzo.store import hook_sessions

    if session is None or session.noticed:
        return ""
    activity, failure = next(failures(context.variables), ("", ""))
    if not activity:
        return ""
    with context.writing().database.transaction() as connection:
        hook_sessions.notice(connection, session.row)
    reason = " ".join(failure.split())[:_LONGEST_REASON]
    if activity == EMBEDDING_ACTIVITY:
        consequence = "Palazzo finds what is new by its words alone, because making vectors failed"
    else:
        from palazzo.index.consumers import activity_of

        consequence = f"Palazzo could not go on with {activity_of(activity)}"
    return f"{consequence}: {reason} See 'palazzo doctor'."
