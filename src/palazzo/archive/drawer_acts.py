"""Acts on drawers in one transaction: forget, move, tag, untag; all of the named drawers, or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from palazzo.archive import acts, archive_reader, identity
from palazzo.archive.ingest_guard import Guard
from palazzo.model import Micros, Place
from palazzo.store import change_groups, place_rows
from palazzo.store.act_rows import ActKind
from palazzo.store.database import Connection, Database


def begin_group(connection: Connection, actor: str, verb: str, now: Micros) -> int:
    """Begin a change group in this transaction; return its row id."""
    return change_groups.begin(connection, bytes.fromhex(identity.new_id(now)), actor, verb, now, "")


def act(
    database: Database,
    clock: Callable[[], Micros],
    kind: ActKind,
    drawers: Sequence[str],
    actor: str,
    detail: dict[str, str],
    group: int | None,
) -> list[str]:
    """Act on drawers (IDs or unique prefixes), in the given change group or in one of its own; return the full IDs."""
    guard = Guard.of(database)
    actor, detail = guard.words(actor), {name: guard.words(value) for name, value in detail.items()}
    if group is not None:
        _let_others_write(database, group)
    with database.transaction() as connection:
        now = clock()
        if kind == "move":  # by its row, which stays, whatever the room is called when it is looked at again
            detail["row"] = str(place_rows.room_id(connection, Place(detail["wing"], detail["room"])))
        own = begin_group(connection, actor, kind, now) if group is None else group
        rows = [archive_reader.resolve_drawer(connection, prefix) for prefix in drawers]
        ids = [archive_reader.read_drawer(connection, row).id for row in rows]
        acts.act_on_drawers(connection, kind, rows, actor, now, detail, own)
        change_groups.count(connection, own, len(ids))
        return [str(drawer) for drawer in ids]


def _let_others_write(database: Database, group: int) -> None:
    """Let others write between two transactions of one group, even while a call withholds its writes."""
    with database.snapshot() as connection:
        goes_on = change_groups.read(connection, group).size > 0
    if goes_on:
        database.step()
