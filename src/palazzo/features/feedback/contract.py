"""Request, result and operation of `feedback`: what faces know of the feature, without its engine."""

from __future__ import annotations

from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.operations.operation import About, Operation


@frozen
class FeedbackRequest:
    """Say whether a memory was helpful, misleading or outdated.

    Search ranks it higher or lower, hooks no longer inject what is misleading or outdated, and 'palazzo audit' lists
    it. The last verdict of each person or agent counts; 'neutral' withdraws it, and so does 'palazzo undo'.
    """

    id: Annotated[str, About("Id of a drawer or a note, or an id prefix.", positional=True)]
    verdict: Annotated[Literal["helpful", "misleading", "outdated", "neutral"], About("What it was.", positional=True)]
    also: Annotated[tuple[str, ...], About("Another id with the same verdict.", metavar="ID")] = ()
    by: Annotated[str, About("Who judges: an agent's name. Default: you.", metavar="NAME")] = ""


@frozen
class FeedbackResult:
    """The judged drawers, the verdict, and the change that 'palazzo undo' takes back."""

    drawers: tuple[str, ...]
    verdict: str
    change: str


FEEDBACK = Operation(
    "feedback",
    FeedbackRequest,
    FeedbackResult,
    scope="write",
    group="Arrange",
    summary="Say that a memory was helpful, misleading or outdated",
    writes=True,
    examples=("palazzo feedback 3f2a91 helpful", "palazzo feedback 3f2a91 outdated"),
)
