"""wing rename: give a wing another name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class WingRenameRequest:
    """The wing to rename, and its new name."""

    wing: Annotated[str, About("The wing.", positional=True)]
    name: Annotated[str, About("The new name.", positional=True)]


@dataclass(frozen=True, slots=True)
class WingRenameResult:
    """The new name of the wing, and its old name."""

    wing: str
    was: str


@marks_taint
def wing_rename(context: Context, request: WingRenameRequest) -> WingRenameResult:
    """Rename a wing. Its old name leads to it until something else gets that name.

    Nothing is rewritten: ids stay, search finds the wing by its new name at once, and mining still files in it. A name
    given by hand overrides palazzo.toml. 'palazzo undo' reverts this.
    """
    from palazzo.features.places.place_results import begin_change, new_name
    from palazzo.knowledge import place_names, reorganize

    context.reading()  # a palace that is missing is not made
    name = new_name(context, request.name)
    with context.writing().database.transaction() as connection:
        wing = place_names.wing(connection, request.wing)
        change = begin_change(context, connection, "wing rename", f"{wing.name} → {name}")
        reorganize.rename_wing(change, wing, name)
        change.count(1)
    return WingRenameResult(name, wing.name)


OPERATION = Operation(
    "wing_rename",
    WingRenameRequest,
    WingRenameResult,
    wing_rename,
    scope="admin",
    writes=True,
    examples=("palazzo wing rename shop store",),
)
