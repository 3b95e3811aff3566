"""Notices for the person, once per session, when the memory is incomplete: one line that says what and why.

The agent does not see them. If a host cannot show a message to a person, the notice is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from palazzo.features.hooks.contract import HookRequest
    from palazzo.operations.context import Context
    from palazzo.store.hook_sessions import HookSession

_LONGEST_REASON = 200
_BEGINNINGS = ("startup", "clear")


def that_it_is_paused(context: Context, request: HookRequest) -> str:
    """Return the notice for a session that begins during a pause, else empty. PALAZZO_OFF needs none: a person set
    it.
    """
    from palazzo.operations.pause_state import pause_of

    pause = pause_of(context) if request.event == "session-start" else None
    return "" if pause is None else f"Palazzo is {pause}: nothing is captured or injected. 'palazzo resume' ends this."


def that_there_is_no_palace(context: Context, request: HookRequest) -> str:
    """Return the notice for a session that begins without a palace; empty otherwise."""
    if context.has_palace or request.event != "session-start" or request.beginning not in _BEGINNINGS:
        return ""
    return (
        f"Palazzo remembers nothing yet: there is no palace at {context.palace_path}. It is created at the end of a "
        "turn; 'palazzo mine' indexes earlier files and transcripts."
    )


def that_an_activity_failed(context: Context, session: HookSession | None) -> str:
    """Return the notice about a failed background activity, once per session; records that it was given."""
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
        consequence = "Palazzo finds new text by keywords only, because computing vectors failed"
    else:
        from palazzo.derived.consumer_activities import activity_of

        consequence = f"Palazzo could not continue with {activity_of(activity)}"
    return f"{consequence}: {reason} See 'palazzo doctor'."
