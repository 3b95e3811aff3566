"""What another person's export may add: records of what it brings, and nothing about what was here before.

Its words are at most of the trust that whoever imports it states (`limited`). A record is taken in (`judge`) if it is
new and speaks only of what such exports brought. So nothing that was here is forgotten, moved, renamed, linked, ended
or erased by it, and nobody approves anything through it. Wings and rooms of a name that is in use here lead to those.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from palazzo.exchange.merging_deeds import MEMBER_TABLES
from palazzo.exchange.merging_work import Table, Work
from palazzo.exchange.records import (
    Act,
    Arrangement,
    Conflict,
    Device,
    Entity,
    EntityLink,
    Erasure,
    Fact,
    FactVersion,
    Group,
    Item,
    Link,
    Member,
    PredicateRule,
    Project,
    Record,
    Repetition,
    Revision,
    Room,
    Side,
    Source,
    State,
    Task,
    Tunnel,
    UnwantedFact,
    Wing,
)
from palazzo.model import Trust, least_trust
from palazzo.store import clock, imported, items
from palazzo.text.names import fold

Verdict = Literal["take", "there", "refused", "dropped"]
"""`there`: it is here, and stays as it is. `dropped`: it means nothing but in the palace that it is from."""
_IMPORTED = " (imported)"
_TABLES: dict[type, Table] = {
    Wing: "wing",
    Room: "room",
    Source: "source",
    Group: "change_group",
    Act: "act",
    State: "task_state",
    Entity: "entity",
    EntityLink: "entity_link",
    Fact: "fact",
    FactVersion: "fact_version",
    Conflict: "conflict",
    Arrangement: "arrangement",
    Tunnel: "tunnel",
    Erasure: "erasure",
}
"""Where records of each kind are kept that have an id of their own."""
_WHEN = ("at", "recorded_at", "changed_at", "retired_at", "found_at", "dismissed_at", "restored_at")
"""Fields that say when something of a record was done."""


# --- what it says ------------------------------------------------------------------------------------------


def limited(record: Record, trust: Trust) -> Record:
    """Return a record as somebody else says it: worth no more than `trust`, and without what erases."""
    match record:
        case Item():
            return _limited_item(record, trust)
        case FactVersion():
            sources = tuple(
                replace(one, trust=least_trust(one.trust, trust), stated_by=_by_another(one.stated_by))
                for one in record.sources
            )
            return replace(record, sources=sources)
        case Group() | Tunnel():
            return replace(record, actor=_by_another(record.actor))
        case Erasure():
            return replace(record, certificate="", tombstones=())
    return record


def _by_another(name: str) -> str:
    """A name that is nobody's here: `user` is the user of another palace."""
    return name if name.endswith(_IMPORTED) else f"{name}{_IMPORTED}"


def _limited_item(item: Item, trust: Trust) -> Item:
    parts = tuple(
        part if part.trust is None else replace(part, trust=least_trust(part.trust, trust))
        for part in items.load_parts(item.parts)
    )
    return replace(item, trust=least_trust(item.trust, trust), parts=items.dump_parts(parts))


# --- what it may speak of ----------------------------------------------------------------------------------


def judge(work: Work, record: Record) -> Verdict:
    """Return whether a record may come in. Raises Missing where what it speaks of is not here."""
    if isinstance(record, Device | Link):
        return "dropped"  # its chains hold digests of words as they were there; what comes in gets links of our own
    if isinstance(record, PredicateRule | UnwantedFact):
        return "refused"  # what holds of all facts, and of suggestions, is said here
    table = _TABLES.get(type(record))
    row = None if table is None else work.find(table, _id(record))
    if table is not None and row is not None and not imported.is_marked(work.connection, table, row):
        return "there"
    if _is_of_the_future(work, record):
        return "refused"  # of two records the later one counts: it would count before all that is ever said here
    may = _MAY.get(type(record))
    if may is None:
        return "take"
    verdict = may(work, record)
    return verdict if isinstance(verdict, str) else "take" if verdict else "refused"


def _is_of_the_future(work: Work, record: Record) -> bool:
    """Whether a record says that it was made later than now, by more than clocks differ."""
    times = (getattr(record, name, None) for name in _WHEN)
    return any(time is not None and time > work.now + clock.FURTHEST for time in times)


def _id(record: Record) -> str:
    uid: str = getattr(record, "id")  # noqa: B009 - all kinds of `_TABLES` have one
    return uid


def note_added(work: Work, record: Record) -> None:
    """Note that a record was added by another person's export."""
    table = _TABLES.get(type(record))
    row = None if table is None else work.find(table, _id(record))
    if table is not None and row is not None:
        imported.mark(work.connection, table, [row])


def note_vouched(work: Work, record: Record) -> None:
    """Note that the owner vouches for a record that another person's export may have added before."""
    table: Table | None = "item" if isinstance(record, Item) else _TABLES.get(type(record))
    row = None if table is None else work.find(table, _id(record))
    if table is not None and row is not None:
        imported.unmark(work.connection, table, [row])


def admitted_items(work: Work, came: Sequence[Item]) -> list[Item]:
    """Return the items that are here, and those that are new and stand in nothing that was here before."""
    sources: dict[str, bool] = {}
    found = []
    for one in came:
        if work.find("item", one.id) is not None or _may_stand_in(work, one, sources):
            found.append(one)
    return found


def _may_stand_in(work: Work, item: Item, sources: dict[str, bool]) -> bool:
    """Whether a new item may come to its source: not to a session or a document that somebody here archived."""
    if item.source not in sources:
        row = work.find("source", item.source)
        sources[item.source] = row is None or _is_foreign_source(work, row)
    if sources[item.source]:
        return True
    kinds = work.connection.execute("SELECT kind FROM source WHERE uid = ?", (bytes.fromhex(item.source),))
    return item.type == "note" and [kind for (kind,) in kinds] == ["note"]


def _is_foreign(work: Work, table: Table, uid: str) -> bool:
    return imported.is_marked(work.connection, table, work.need(table, uid))


def _is_foreign_source(work: Work, row: int) -> bool:
    return imported.is_wholly_imported(work.connection, "source", row, "item", "source")


def _wing(work: Work, one: Wing) -> Verdict:
    rows = work.connection.execute(
        "SELECT id FROM wing WHERE name = ? AND merged_into IS NULL", (work.name(one.first_name),)
    )
    return _led(work, "wing", one.id, [int(row) for (row,) in rows])


def _room(work: Work, one: Room) -> Verdict:
    rows = work.connection.execute(
        "SELECT id FROM room WHERE wing = ? AND name = ? AND merged_into IS NULL",
        (work.need("wing", one.wing), work.name(one.first_name)),
    )
    return _led(work, "room", one.id, [int(row) for (row,) in rows])


def _led(work: Work, table: Table, uid: str, rows: Sequence[int]) -> Verdict:
    """Let a place that is not here be the one of its name."""
    if work.find(table, uid) is not None or not rows:
        return "take"
    work.lead(table, uid, rows[0])
    return "there"


def _project(work: Work, one: Project) -> Verdict:
    rows = work.connection.execute("SELECT 1 FROM project WHERE identity = ?", (work.name(one.identity),))
    return "there" if any(True for _ in rows) else "take"


def _source(work: Work, one: Source) -> Verdict:
    row = work.find("source", one.id)
    return "take" if row is None or _is_foreign_source(work, row) else "there"


def _place_in_source(work: Work, one: Repetition | Revision) -> bool:
    """An item that was here is no version of their document, which a later version would end."""
    return _is_foreign(work, "item", one.item) and _is_foreign_source(work, work.need("source", one.source))


def _group(work: Work, one: Group) -> bool:
    return one.undoes is None or _is_foreign(work, "change_group", one.undoes)


def _act(work: Work, one: Act) -> Verdict:
    if work.find("act", one.id) is not None:
        return "there"
    if one.type == "approve" or (one.group is not None and not _is_foreign(work, "change_group", one.group)):
        return "refused"
    rows = [work.find("item", span.item) for span in one.spans]
    may = all(row is not None and imported.is_marked(work.connection, "item", row) for row in rows)
    return "take" if may else "refused"


def _task(work: Work, one: Task) -> bool:
    return _is_foreign(work, "item", one.item)


def _state(work: Work, one: State) -> bool:
    item = work.need("item", one.task)
    own = work.connection.execute(
        "SELECT 1 FROM task_state s JOIN task ON task.id = s.task WHERE task.item = ?"
        " AND NOT EXISTS (SELECT 1 FROM imported_row WHERE kind = 'task_state' AND row = s.id) LIMIT 1",
        (item,),
    )
    return imported.is_marked(work.connection, "item", item) and not any(True for _ in own)


def _entity_link(work: Work, one: EntityLink) -> bool:
    if work.find("entity_link", one.id) is not None:
        return True
    if not all(_is_foreign_entity(work, uid) for uid in (one.entity, one.other) if uid is not None):
        return False
    folded = fold(work.words(one.name)) if one.name else ""
    named = work.connection.execute(
        "SELECT 1 FROM entity WHERE folded = ?1 UNION ALL SELECT 1 FROM entity_link WHERE folded = ?1 LIMIT 1",
        (folded,),
    )
    return not folded or not any(True for _ in named)


def _is_foreign_entity(work: Work, uid: str) -> bool:
    """Whether only facts that others brought are about an entity."""
    row = work.need("entity", uid)
    own = work.connection.execute(
        "SELECT 1 FROM fact JOIN fact_version v ON v.fact = fact.id WHERE ?1 IN (subject, object)"
        " AND NOT EXISTS (SELECT 1 FROM imported_row WHERE kind = 'fact_version' AND row = v.id) LIMIT 1",
        (row,),
    )
    return imported.is_marked(work.connection, "entity", row) and not any(True for _ in own)


def _fact_version(work: Work, one: FactVersion) -> bool:
    return _is_foreign_fact(work, one.fact)


def _is_foreign_fact(work: Work, uid: str) -> bool:
    return imported.is_wholly_imported(work.connection, "fact", work.need("fact", uid), "fact_version", "fact")


def _conflict(work: Work, one: Conflict) -> bool:
    return _is_foreign_side(work, one.earlier) and _is_foreign_side(work, one.later)


def _is_foreign_side(work: Work, side: Side) -> bool:
    if side.fact is not None:
        return _is_foreign_fact(work, side.fact)
    return side.item is not None and _is_foreign(work, "item", side.item)


def _arrangement(work: Work, one: Arrangement) -> bool:
    rooms = [] if one.room is None else [work.need("room", one.room)]
    if one.wing is not None:
        wing = work.need("wing", one.wing)
        if not imported.is_marked(work.connection, "wing", wing):
            return False
        found = work.connection.execute("SELECT id FROM room WHERE ?1 IN (wing, first_wing)", (wing,))
        rooms = [int(row) for (row,) in found]
    if not all(imported.is_wholly_imported(work.connection, "room", row, "item", "room") for row in rooms):
        return False
    return not one.name or work.find("arrangement", one.id) is not None or not _is_called(work, one)


def _is_called(work: Work, one: Arrangement) -> bool:
    """Whether a wing here, or a room of the wing that the arrangement leads to, has the name that it gives."""
    name = work.name(one.name)
    if one.wing is not None:
        rows = work.connection.execute("SELECT 1 FROM wing WHERE ? IN (name, first_name)", (name,))
    else:
        wing = work.optional("wing", one.target)
        rows = work.connection.execute("SELECT 1 FROM room WHERE wing = ? AND ? IN (name, first_name)", (wing, name))
    return any(True for _ in rows)


def _tunnel(work: Work, one: Tunnel) -> bool:
    return _is_foreign(work, "room", one.source) and _is_foreign(work, "room", one.target)


def _member(work: Work, one: Member) -> bool:
    if not _is_foreign(work, "change_group", one.group):
        return False
    table = MEMBER_TABLES.get(one.type)
    if table is None:
        return one.type == "undone" and _is_undoing(work, one.group)
    return _is_foreign(work, table, one.ref or "")


def _is_undoing(work: Work, group: str) -> bool:
    rows = work.connection.execute("SELECT undoes FROM change_group WHERE uid = ?", (bytes.fromhex(group),))
    return any(undoes is not None for (undoes,) in rows)


def own_items(work: Work, erasure: Erasure) -> Erasure:
    """Return an erasure with those of its items that others brought without their words."""
    found = []
    for uid in erasure.items:
        row = work.find("item", uid)
        if row is not None and imported.is_marked(work.connection, "item", row) and items.is_bare(work.connection, row):
            found.append(uid)
    return replace(erasure, items=tuple(found))


def _erasure(work: Work, one: Erasure) -> Verdict:
    return "take" if one.items else "dropped"


_MAY: dict[type, Callable[[Work, Any], Verdict | bool]] = {
    Wing: _wing,
    Room: _room,
    Project: _project,
    Source: _source,
    Repetition: _place_in_source,
    Revision: _place_in_source,
    Group: _group,
    Act: _act,
    Task: _task,
    State: _state,
    EntityLink: _entity_link,
    FactVersion: _fact_version,
    Conflict: _conflict,
    Arrangement: _arrangement,
    Tunnel: _tunnel,
    Erasure: _erasure,
    Member: _member,
}
