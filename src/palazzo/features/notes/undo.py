"""undo: undo the last change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.notes.contract import Change, UndoRequest, UndoResult
from palazzo.operations.caller_taint import unless_tainted
from palazzo.store import change_groups
from palazzo.store.change_groups import TAINT_REMARK
from palazzo.text.times import to_iso

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.change_groups import Group


def undo(context: Context, request: UndoRequest) -> UndoResult:
    """Undo your last change: forget, remember, move, tag, facts. An erase cannot be undone."""
    if request.list:
        if request.id is not None:
            raise UsageError("Give a change to undo, or --list to see the last changes; not both.")
        return UndoResult(None, _changes(context, request.limit))

    if not context.has_palace:
        context.reading()  # says so: none is made, since nothing can be taken back in it
    unless_tainted(context, "undo changes")  # an undoing itself cannot be taken back
    palace = context.writing()
    group = palace.undo(
        "user", request.id, lambda done, size: context.report("undoing", done, size), context.interrupted_at
    )
    return UndoResult(_change(group, None))


def _changes(context: Context, limit: int) -> tuple[Change, ...]:
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
