"""pause: stop capture and injection, for a while or until resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.upkeep.contract import PauseRequest, PauseResult
from palazzo.operations import pause_state
from palazzo.operations.caller_clock import to_come

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def pause(context: Context, request: PauseRequest) -> PauseResult:
    """Stop capture and injection, everywhere this palace is used, for a time or until 'palazzo resume'."""
    until = None
    if request.duration is not None:
        until = to_come(context, "DURATION", request.duration).start
        if until <= context.now:
            raise UsageError(f"'{request.duration}' has already passed; give a future time, such as 2h.")
    pause_state.begin(context, until)
    return PauseResult(str(context.palace_path), until)
