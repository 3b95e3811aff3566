"""Conflicts of facts that were dismissed. Others are not recorded: they are found again from the facts."""

from __future__ import annotations

from collections.abc import Iterator

from palazzo.frozen_class import frozen
from palazzo.store.database import Connection
from palazzo.sync.field_codecs import Id, Name, Time, Whole, require
from palazzo.sync.merge_state import Outcome, Work, merge_end_states
from palazzo.sync.records.fact_records import is_foreign_fact
from palazzo.sync.records.foreign_checks import is_foreign
from palazzo.sync.records.palace_snapshot import PalaceSnapshot, Selection, hex_id, hex_or_none
from palazzo.sync.records.record_kind import Record, RecordKind, RecordName


@frozen
class Side:
    """One side of a conflict: a fact, or the range of an item that states it."""

    fact: Id | None = None
    item: Id | None = None
    start: Whole | None = None
    end: Whole | None = None


@frozen
class Conflict(Record):
    """Two statements that cannot both be true.

    It was dismissed at `dismissed_at`; the dismissal was last reverted at `restored_at`.
    """

    id: Id
    type: Name
    earlier: Side
    later: Side
    found_at: Time
    dismissed_at: Time | None = None
    restored_at: Time | None = None

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both sides."""
        return self.earlier, self.later


def _check(record: Conflict) -> None:
    for side in record.sides:
        require((side.fact is None) != (side.item is None), "each side must be either a fact or a span of an item")
        words = side.start is not None and side.end is not None and 0 <= side.start <= side.end
        require(side.fact is not None or words, "a side that is an item must have a valid span")


def _read(snapshot: PalaceSnapshot) -> Iterator[Conflict]:
    """Yield conflicts that were dismissed, or restored after that."""
    for row, uid, kind, found_at, dismissed_at, restored_at, *sides in snapshot.connection.execute(
        "SELECT c.id, c.uid, c.kind, c.found_at, c.dismissed_at, c.restored_at, a.uid, c.earlier_item, c.earlier_start,"
        " c.earlier_end, b.uid, c.later_item, c.later_start, c.later_end FROM conflict c"
        " LEFT JOIN fact a ON a.id = c.earlier_fact LEFT JOIN fact b ON b.id = c.later_fact"
        " WHERE c.dismissed_at IS NOT NULL OR c.restored_at IS NOT NULL ORDER BY c.uid"
    ):
        if snapshot.includes("conflict", row):
            earlier, later = (
                Side(hex_or_none(fact), hex_or_none(item), start, end)
                for fact, item, start, end in (sides[:4], sides[4:])
            )
            yield Conflict(hex_id(uid), kind, earlier, later, found_at, dismissed_at, restored_at)


def _select(connection: Connection, selection: Selection) -> None:
    for row, *sides in connection.execute(
        "SELECT id, earlier_fact, earlier_item, later_fact, later_item FROM conflict"
    ):
        if all(_is_selected(selection, fact, item) for fact, item in (sides[:2], sides[2:])):
            selection.rows["conflict"].add(row)


def _is_selected(selection: Selection, fact: int | None, item: bytes | None) -> bool:
    return (fact is None or fact in selection.rows["fact"]) and (item is None or bytes(item) in selection.item_ids)


def _name_items(record: Conflict) -> Iterator[RecordName]:
    yield from (("item", side.item) for side in record.sides if side.item is not None)


def _merge(work: Work, record: Conflict) -> Outcome:
    """Merge a conflict; it has a record because it was dismissed."""
    row = work.find("conflict", record.id)
    if row is not None:
        discovery_time, *stored_state = next(
            work.connection.execute("SELECT found_at, dismissed_at, restored_at FROM conflict WHERE id = ?", (row,))
        )
        new_state = merge_end_states((stored_state[0], stored_state[1]), (record.dismissed_at, record.restored_at))
        is_turned = _turn(work, row, record)
        if record.found_at >= discovery_time and new_state == tuple(stored_state) and not is_turned:
            return "same"
        work.connection.execute(
            "UPDATE conflict SET found_at = ?, dismissed_at = ?, restored_at = ? WHERE id = ?",
            (min(discovery_time, record.found_at), *new_state, row),
        )
        return "changed"
    earlier, later = _side(work, record.earlier), _side(work, record.later)
    work.connection.execute(
        "INSERT INTO conflict(uid, kind, earlier_fact, earlier_item, earlier_start, earlier_end, later_fact,"
        " later_item, later_start, later_end, found_at, dismissed_at, restored_at) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            bytes.fromhex(record.id),
            record.type,
            *earlier,
            *later,
            record.found_at,
            record.dismissed_at,
            record.restored_at,
        ),
    )
    return "added"


def _turn(work: Work, row: int, record: Conflict) -> bool:
    """Put the lesser id first of two facts of the same time, if devices disagree about which one is earlier."""
    earlier, later = next(work.connection.execute("SELECT earlier_fact, later_fact FROM conflict WHERE id = ?", (row,)))
    if earlier is None or later is None or record.earlier.fact is None:
        return False
    own = work.uid_of("fact", earlier)
    if own <= record.earlier.fact or own != record.later.fact:
        return False
    work.connection.execute("UPDATE conflict SET earlier_fact = ?, later_fact = ? WHERE id = ?", (later, earlier, row))
    return True


def _side(work: Work, side: Side) -> tuple[int | None, bytes | None, int | None, int | None]:
    item = None if side.item is None else bytes.fromhex(side.item)
    return work.optional("fact", side.fact), item, side.start, side.end


def _judge(work: Work, record: Conflict) -> bool:
    return all(_is_foreign_side(work, side) for side in record.sides)


def _is_foreign_side(work: Work, side: Side) -> bool:
    if side.fact is not None:
        return is_foreign_fact(work, side.fact)
    return side.item is not None and is_foreign(work, "item", side.item)


CONFLICT = RecordKind(
    "conflict",
    Conflict,
    references={"earlier.fact": "fact", "later.fact": "fact"},
    check=_check,
    read=_read,
    select=_select,
    reveals=_name_items,
    merge=_merge,
    judge=_judge,
)
