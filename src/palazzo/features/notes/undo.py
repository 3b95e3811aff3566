"""undo: undo the last change."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.notes.contract import UNDO_LIMIT, Change, UndoRequest, UndoResult
from palazzo.operations.caller_taint import change_actor, unless_tainted
from palazzo.store import change_groups, items
from palazzo.store.change_groups import TAINT_REMARK
from palazzo.text.times import to_iso

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.change_groups import Group
    from palazzo.store.database import Connection

_READ_CHARACTERS, _LONGEST_BEGINNING = 400, 120
"""Characters of a text that are tidied for the list of changes, and the most that it shows."""


def undo(context: Context, request: UndoRequest) -> UndoResult:
    """Undo your last change: forget, remember, move, tag, facts. An erase cannot be undone."""
    if request.list:
        if request.id is not None:
            raise UsageError("Give a change to undo, or --list to see the last changes; not both.")
        return UndoResult(None, _changes(context, request.limit))

    if not context.has_palace:
        context.reading()  # says so: none is made, since nothing can be taken back in it
    unless_tainted(context, "undo changes")  # an undoing itself cannot be taken back
    palace, actor = context.writing(), change_actor(context)
    with palace.database.snapshot() as connection:
        standing_groups = [] if request.id is not None else change_groups.list_undoable(connection, None, UNDO_LIMIT)
    group = palace.undo(
        actor, request.id, lambda done, size: context.report("undoing", done, size), context.interrupted_at
    )
    later = list(takewhile(lambda standing: standing.row != group.row, standing_groups))
    with palace.database.snapshot() as connection:
        return UndoResult(
            _change(connection, group, None),
            later=tuple(_change(connection, other, None) for other in later if other.actor != actor),
        )


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
        return tuple(_change(connection, group, undoes.get(group.undoes or 0)) for group in group_rows)


def _change(connection: Connection, group: Group, undoes: str | None) -> Change:
    subject, text = _read_subject(connection, group)
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
        subject,
        text,
    )


def _read_subject(connection: Connection, group: Group) -> tuple[str, str]:
    """Return the id and the beginning of the first text that a group, or the group that it undid, concerns."""
    subject = change_groups.subject_of(connection, group.undoes or group.row)
    if subject is None:
        return "", ""
    text = items.read_texts(connection, [subject.item])[subject.item]
    return subject.uid, " ".join(text[subject.start : subject.end][:_READ_CHARACTERS].split())[:_LONGEST_BEGINNING]
