"""wing merge: make two wings one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class WingMergeRequest:
    """Which wing goes into which."""

    wing: Annotated[str, About("The wing whose name is not used any more.", positional=True)]
    into: Annotated[str, About("The wing that it becomes a part of.", positional=True)]


@dataclass(frozen=True, slots=True)
class WingMergeResult:
    """Which wing went into which. `rooms` are those that both had, and that are one now.

    `private` are those of the wings that are one now that are private: they keep the others on this machine, too.
    """

    wing: str
    was: str
    rooms: tuple[str, ...]
    private: tuple[str, ...] = ()


@marks_taint
def wing_merge(context: Context, request: WingMergeRequest) -> WingMergeResult:
    """Make a wing a part of another, with its rooms; rooms of one name become one.

    Nothing is rewritten, and 'palazzo undo' takes the two apart again. Where either is private, nothing of them both is
    synced as long as they are one.
    """
    from palazzo.features.places.place_results import begin_change
    from palazzo.knowledge import place_names, reorganize
    from palazzo.store import remote_rows

    context.reading()  # a palace that is missing is not made
    with context.writing().database.transaction() as connection:
        wing, into = (place_names.wing(connection, name) for name in (request.wing, request.into))
        change = begin_change(context, connection, "wing merge", f"{wing.name} into {into.name}")
        rooms = reorganize.merge_wings(change, wing, into)
        change.count(1)
        private = [
            private_wing.name
            for private_wing in remote_rows.listed_private(connection)
            if into.row in (private_wing.row, private_wing.part_of)
        ]
    return WingMergeResult(into.name, wing.name, rooms, tuple(private))


OPERATION = Operation("wing_merge", WingMergeRequest, WingMergeResult, wing_merge, writes=True)
