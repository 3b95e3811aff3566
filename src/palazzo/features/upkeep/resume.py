"""resume: end a pause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.operations.operation import Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class ResumeRequest:
    """No arguments."""


@dataclass(frozen=True, slots=True)
class ResumeResult:
    """Whether the palace was paused, and whether Palazzo is still off because of PALAZZO_OFF."""

    palace: str
    was_paused: bool
    off: bool


def resume(context: Context, request: ResumeRequest) -> ResumeResult:
    """Resume capture and injection after 'palazzo pause'."""
    from palazzo.operations import pause_state

    return ResumeResult(str(context.palace_path), pause_state.end(context), context.settings.flag("off"))


OPERATION = Operation(
    "resume",
    ResumeRequest,
    ResumeResult,
    resume,
    scope="admin",
    examples=("palazzo resume",),
)
