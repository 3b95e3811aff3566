"""wing rename: call a wing otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class WingRenameRequest:
    """Which wing, and its new name."""

    wing: Annotated[str, About("The wing.", positional=True)]
    name: Annotated[str, About("What to call it from now on.", positional=True)]


@dataclass(frozen=True, slots=True)
class WingRenameResult:
    """What the wing is called, and what it was."""

    wing: str
    was: str


@marks_taint
def wing_rename(context: Context, request: WingRenameRequest) -> WingRenameResult:
    """Give a wing another name. Its old name leads to it until something else is called so.

    Nothing is rewritten: ids stay, search finds it by its new name at once, and what is mined goes on being filed in
    it. A name that was given by hand wins over palazzo.toml. 'palazzo undo' takes it back.
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


OPERATION = Operation("wing_rename", WingRenameRequest, WingRenameResult, wing_rename, writes=True)
