"""undo: undo the last change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.operations.operation import About, Operation
from palazzo.text.times import to_iso

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.change_groups import Group

DEFAULT_LIMIT = 20


@dataclass(frozen=True, slots=True)
class UndoRequest:
    """The change to take back; the last one by default."""

    id: Annotated[str | None, About("The change to undo instead of the last one.", positional=True)] = None
    list: Annotated[bool, About("Only list the last changes.")] = False
    limit: Annotated[int, About("Maximum number of changes to list.")] = DEFAULT_LIMIT


@dataclass(frozen=True, slots=True)
class Change:
    """The effects of one command: its size, its time, and whether it was taken back."""

    id: str
    actor: str
    at: str
    verb: str
    size: int
    summary: str
    undone: bool
    undoes: str | None
    after_untrusted: bool = False
    """Whether it was made by an agent whose session had read untrusted content."""


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The change that was taken back, if any; and the last changes, if requested."""

    undone: Change | None
    changes: tuple[Change, ...] = ()


def undo(context: Context, request: UndoRequest) -> UndoResult:
    """Undo your last change: forget, remember, move, tag, facts. An erase cannot be undone.

    Nothing is deleted, and the undone change stays on record. Run it again to undo the change before.
    """
    if request.list:
        if request.id is not None:
            raise UsageError("Give a change to undo, or --list to see the last changes; not both.")
        return UndoResult(None, _changes(context, request.limit))
    from palazzo.operations.caller_taint import unless_tainted

    if not context.has_palace:
        context.reading()  # says so: none is made, since nothing can be taken back in it
    unless_tainted(context, "undo changes")  # an undoing itself cannot be taken back
    palace = context.writing()
    group = palace.undo(
        "user", request.id, lambda done, size: context.report("undoing", done, size), context.interrupted_at
    )
    return UndoResult(_change(group, None))


def _changes(context: Context, limit: int) -> tuple[Change, ...]:
    from palazzo.store import change_groups

    if limit < 1:
        raise UsageError(f"The limit is {limit}; it must be at least 1.")
    with context.reading().database.snapshot() as connection:
        group_rows = change_groups.recent(connection, limit)
        undoes = {
            row: change_groups.read(connection, row).uid
            for row in (group.undoes for group in group_rows)
            if row is not None
        }
    return tuple(_change(group, undoes.get(group.undoes or 0)) for group in group_rows)


def _change(group: Group, undoes: str | None) -> Change:
    from palazzo.store.change_groups import TAINT_REMARK

    return Change(
        group.uid,
        group.actor,
        to_iso(group.at),
        group.verb,
        group.size,
        group.summary,
        group.undone,
        undoes,
        group.summary.endswith(TAINT_REMARK),
    )


OPERATION = Operation(
    "undo",
    UndoRequest,
    UndoResult,
    undo,
    scope="write",
    writes=True,
    examples=("palazzo undo", "palazzo undo --list"),
)
