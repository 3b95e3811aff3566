"""resume: end a pause, or continue a session in its host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.features.sessions.session_resumption import Resumption
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class ResumeRequest:
    """The session to resume; without one, the request ends a pause."""

    session: Annotated[
        str | None, About("Id or id prefix of a session to resume; without it, end a pause.", positional=True)
    ] = None
    print: Annotated[bool, About("Only print the command that resumes the session.")] = False


@dataclass(frozen=True, slots=True)
class ResumeResult:
    """Whether the palace was paused and PALAZZO_OFF still keeps it off; or how the session is resumed."""

    palace: str
    was_paused: bool
    off: bool
    resumption: Resumption | None = None


def resume(context: Context, request: ResumeRequest) -> ResumeResult:
    """Resume a session in its host; without an id, resume capture and injection after 'palazzo pause'.

    A session that its host has deleted is restored first. The host is started in the session's directory if this is a
    terminal; otherwise, and with --print, the command is printed.
    """
    from palazzo.operations import pause_state

    if request.session is not None:
        from palazzo.features.sessions.session_resumption import resume_session

        resumption = resume_session(context, request.session, request.print)
        is_off = context.settings.flag("off")
        return ResumeResult(str(context.palace_path), False, is_off, resumption)
    if request.print:
        raise UsageError("--print needs the id of a session; 'palazzo sessions' lists them.")
    return ResumeResult(str(context.palace_path), pause_state.end(context), context.settings.flag("off"))


OPERATION = Operation(
    "resume",
    ResumeRequest,
    ResumeResult,
    resume,
    scope="admin",
    examples=("palazzo resume",),
)
