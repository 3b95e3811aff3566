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
    """The wing to merge, and the target wing."""

    wing: Annotated[str, About("The wing whose name is no longer used.", positional=True)]
    into: Annotated[str, About("The wing to merge it into.", positional=True)]


@dataclass(frozen=True, slots=True)
class WingMergeResult:
    """The merged wing and its target. `rooms` are the rooms that both had, which are merged too.

    `private` lists the private ones among the merged wings: they keep the others on this machine, too.
    """

    wing: str
    was: str
    rooms: tuple[str, ...]
    private: tuple[str, ...] = ()


@marks_taint
def wing_merge(context: Context, request: WingMergeRequest) -> WingMergeResult:
    """Merge a wing, with its rooms, into another; rooms of the same name become one.

    Nothing is rewritten, and 'palazzo undo' separates the two again. If either is private, nothing of both is synced as
    long as they are merged.
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


OPERATION = Operation(
    "wing_merge",
    WingMergeRequest,
    WingMergeResult,
    wing_merge,
    scope="admin",
    writes=True,
    examples=("palazzo wing merge old-api api",),
)
