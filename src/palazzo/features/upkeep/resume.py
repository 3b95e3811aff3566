"""resume: end a pause, or continue a session in its host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.sessions.session_resumption import resume_session
from palazzo.features.upkeep.contract import ResumeRequest, ResumeResult
from palazzo.operations import pause_state

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def resume(context: Context, request: ResumeRequest) -> ResumeResult:
    """Resume a session in its host; without an id, resume capture and injection after 'palazzo pause'."""
    if request.session is not None:
        resumption = resume_session(context, request.session, request.print)
        is_off = context.settings.flag("off")
        return ResumeResult(str(context.palace_path), False, is_off, resumption)
    if request.print:
        raise UsageError("--print needs the id of a session; 'palazzo sessions' lists them.")
    return ResumeResult(str(context.palace_path), pause_state.end(context), context.settings.flag("off"))
