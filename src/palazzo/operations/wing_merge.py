"""wing merge: make two wings one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class WingMergeRequest:
    """Which wing goes into which."""

    wing: Annotated[str, About("The wing whose name is not used any more.", positional=True)]
    into: Annotated[str, About("The wing that it becomes a part of.", positional=True)]


@dataclass(frozen=True, slots=True)
class WingMergeResult:
    """Which wing went into which. `rooms` are those that both had, and that are one now."""

    wing: str
    was: str
    rooms: tuple[str, ...]


def wing_merge(context: Context, request: WingMergeRequest) -> WingMergeResult:
    """Make a wing a part of another, with its rooms; rooms of one name become one.

    Nothing is rewritten, and 'palazzo undo' takes the two apart again.
    """
    from palazzo.graph import arranging, whereabouts
    from palazzo.operations.structure import changing

    context.reading()  # a palace that is missing is not made
    with context.writing().database.transaction() as connection:
        wing, into = (whereabouts.wing(connection, name) for name in (request.wing, request.into))
        change = changing(context, connection, "wing merge", f"{wing.name} into {into.name}")
        rooms = arranging.merge_wings(change, wing, into)
        change.count(1)
    return WingMergeResult(into.name, wing.name, rooms)


OPERATION = Operation("wing_merge", WingMergeRequest, WingMergeResult, wing_merge, writes=True)
