"""pause: stop capture and injection, for a while or until resumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.model import Micros
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class PauseRequest:
    """The duration of the pause."""

    duration: Annotated[
        str | None,
        About(
            "How long (30m, 2 hours), or until when (17:00, tomorrow 9:00); without it, until 'palazzo resume'.",
            positional=True,
            aliases=("--for",),
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class PauseResult:
    """The end of the pause; null if it lasts until 'palazzo resume'."""

    palace: str
    until: Micros | None


def pause(context: Context, request: PauseRequest) -> PauseResult:
    """Stop capture and injection, everywhere this palace is used, for a time or until 'palazzo resume'.

    Agents can still search and file notes. Transcripts of that time are not ingested later either, except by 'palazzo
    mine' of such a file.
    """
    from palazzo.operations import pause_state
    from palazzo.operations.caller_clock import to_come

    until = None
    if request.duration is not None:
        until = to_come(context, "DURATION", request.duration).start
        if until <= context.now:
            raise UsageError(f"'{request.duration}' has already passed; give a future time, such as 2h.")
    pause_state.begin(context, until)
    return PauseResult(str(context.palace_path), until)


OPERATION = Operation(
    "pause",
    PauseRequest,
    PauseResult,
    pause,
    scope="admin",
    examples=("palazzo pause 1h", "palazzo pause 'tomorrow 9:00'"),
)
