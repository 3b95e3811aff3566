"""Change groups: what one command of a person or agent did to the palace, kept together so that it can be undone.

A group has members in the order in which they were done: acts, notes, versions of facts. Undoing writes another group,
which names the group that it `undoes`; nothing is deleted. Mining makes no groups (mined content is forgotten by its
source), and an erase cannot be undone, so it makes none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store.database import Connection

MemberKind = Literal[
    "act",
    "note",
    "fact+",
    "fact-",
    "link+",
    "link-",
    "predicate",
    "dismissal",
    "unwanted",
    "state",
    "arrangement",
    "tunnel+",
    "tunnel-",
    "undone",
]
"""`+` is a row that was added, `-` a row that was retired; `ref` is its row id in the table of its kind. An undo has
one `undone` for each member that it took back, with that member's number.
"""
MemberTable = Literal[
    "act",
    "item",
    "fact_version",
    "entity_link",
    "predicate_rule",
    "conflict",
    "task_state",
    "arrangement",
    "tunnel",
]
MEMBER_TABLES: dict[str, MemberTable] = {
    "act": "act",
    "note": "item",
    "fact+": "fact_version",
    "fact-": "fact_version",
    "link+": "entity_link",
    "link-": "entity_link",
    "predicate": "predicate_rule",
    "dismissal": "conflict",
    "state": "task_state",
    "arrangement": "arrangement",
    "tunnel+": "tunnel",
    "tunnel-": "tunnel",
}
"""The table of the row that a member's `ref` names, by its kind; records of its rows have the same name. `unwanted` and
`undone` are not identified by a single id.
"""

_COLUMNS = (
    "SELECT id, uid, actor, at, verb, size, summary, undoes,"
    " EXISTS (SELECT 1 FROM change_group AS later WHERE later.undoes = change_group.id) FROM change_group"
)

_SUBJECT = (
    "SELECT coalesce(s.drawer_uid, item.uid), item.id, s.start, s.end FROM group_member m"
    " LEFT JOIN act_span s ON m.kind = 'act' AND s.act = m.ref AND s.n = 0"
    " LEFT JOIN task_state t ON m.kind = 'state' AND t.id = m.ref LEFT JOIN task ON task.id = t.task"
    " JOIN item ON item.id = CASE m.kind WHEN 'note' THEN m.ref WHEN 'state' THEN task.item"
    " WHEN 'act' THEN (SELECT own.id FROM item own WHERE own.uid = s.item_uid) END"
    " WHERE m.grp = ? AND m.kind IN ('note', 'state', 'act') ORDER BY m.kind <> 'note', m.n LIMIT 1"
)

_SEQUENCE = (
    "WITH sequence AS (SELECT id AS row, here,"
    " iif(here, max(iif(here, at, NULL)) OVER (ORDER BY id), at) AS done_at FROM change_group)"
)
_LAST_FIRST = (
    "ORDER BY sequence.done_at / 1000 DESC, sequence.here DESC, iif(sequence.here, change_group.id, 0) DESC, uid DESC"
)
"""The chronological order of groups, latest first. Groups of this palace keep the order of recording, whatever its
clock showed, because the clock may have been set back. Groups from other devices, and from releases that did not record
the place, are sorted between them by time; ids of the same millisecond keep the order in which they were issued. The
groups of facts begin at whole milliseconds, so no smaller unit decides the order.
"""
_IN_SEQUENCE = f"{_SEQUENCE} {_COLUMNS} JOIN sequence ON sequence.row = change_group.id"


IMPORT_OF_EXPORT = "import export"
"""The verb of the change group of an imported export. Such a group is exported only after it is undone."""
IS_SHARED = (
    f"(g.verb <> '{IMPORT_OF_EXPORT}' OR EXISTS (SELECT 1 FROM change_group AS later WHERE later.undoes = g.id))"
)
"""SQL that is true for the groups (`g`) that are exported to other palaces."""


TAINT_REMARK = "(by an agent that had read untrusted content)"
"""The end of the summary of a group made by such an agent."""
_remark: ContextVar[str] = ContextVar("remark", default="")


@contextmanager
def remark(words: str) -> Iterator[None]:
    """Append these words to the summary of every group that this thread begins in the block."""
    token = _remark.set(words)
    try:
        yield
    finally:
        _remark.reset(token)


class Member(NamedTuple):
    """One effect of a group."""

    kind: MemberKind
    ref: int


@frozen
class Group:
    """The changes of one command: `size` of them; `summary` names their object where `verb` and `size` are not enough.

    `undoes` is the group that it took back, `undone` whether it was taken back itself.
    """

    row: int
    uid: str
    actor: str
    at: Micros
    verb: str
    size: int
    summary: str
    undoes: int | None
    undone: bool


class Subject(NamedTuple):
    """A span of an item's text (`start` to `end`; None: the whole text), and the id by which `show` finds it."""

    uid: str
    item: int
    start: int
    end: int | None


def begin(
    connection: Connection, uid: bytes, actor: str, verb: str, at: Micros, summary: str, undoes: int | None = None
) -> int:
    """Begin a group; return its row id. `summary` is for people: a few redacted words, or nothing."""
    summary = f"{summary} {_remark.get()}".strip()
    (row,) = next(
        connection.execute(
            "INSERT INTO change_group(uid, actor, at, verb, summary, undoes, here) VALUES(?,?,?,?,?,?,1) RETURNING id",
            (uid, actor, at, verb, summary, undoes),
        )
    )
    return int(row)


def add(connection: Connection, group: int, kind: MemberKind, refs: Iterable[int]) -> None:
    """Add members to a group."""
    connection.executemany(
        "INSERT INTO group_member(grp, n, kind, ref)"
        " VALUES(?1, (SELECT coalesce(max(n), -1) + 1 FROM group_member WHERE grp = ?1), ?2, ?3)",
        ((group, kind, ref) for ref in refs),
    )


def members(connection: Connection, group: int) -> list[Member]:
    """Return a group's members, in order."""
    rows = connection.execute("SELECT kind, ref FROM group_member WHERE grp = ? ORDER BY n", (group,))
    return [Member(kind, int(ref)) for kind, ref in rows]


def subject_of(connection: Connection, group: int) -> Subject | None:
    """Return the first text that a group concerns: a note that it filed, else what it acted on. None if it has none."""
    rows = connection.execute(_SUBJECT, (group,))
    return next((Subject(uid.hex(), item, start or 0, end) for uid, item, start, end in rows), None)


def taken_back(connection: Connection, kind: MemberKind) -> frozenset[int]:
    """Return the row ids of members of one kind whose groups were undone since."""
    rows = connection.execute(
        "SELECT ref FROM group_member WHERE kind = ? AND grp IN"
        " (SELECT undoes FROM change_group WHERE undoes IS NOT NULL)",
        (kind,),
    )
    return frozenset(int(ref) for (ref,) in rows)


def find_interrupted_undo(connection: Connection) -> Group | None:
    """Return an interrupted undo of this palace, or None. An imported one is not completed here."""
    rows = connection.execute(
        f"{_COLUMNS} WHERE undoes IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM imported_row WHERE kind = 'change_group' AND row = change_group.id) AND"
        " (SELECT count(*) FROM group_member WHERE grp = change_group.id AND kind = 'undone')"
        " < (SELECT count(*) FROM group_member WHERE grp = change_group.undoes) LIMIT 1"
    )
    return next((_group(row) for row in rows), None)


def count(connection: Connection, group: int, size: int) -> None:
    """Add to the number of things that a group changed."""
    connection.execute("UPDATE change_group SET size = size + ? WHERE id = ?", (size, group))


def read(connection: Connection, row: int) -> Group:
    """Return a group by its row id."""
    return _group(next(connection.execute(f"{_COLUMNS} WHERE id = ?", (row,))))


def last_standing(connection: Connection, actor: str) -> Group | None:
    """Return the actor's last group that is neither undone nor an undo; None if there is none."""
    for group in list_undoable(connection, actor, 1):
        return group
    return None


def list_undoable(connection: Connection, actor: str | None, limit: int) -> list[Group]:
    """Return the last groups that are neither undone nor undos, newest first; of all actors for None."""
    rows = connection.execute(
        f"{_IN_SEQUENCE} WHERE undoes IS NULL AND (?1 IS NULL OR actor = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM change_group AS later WHERE later.undoes = change_group.id)"
        f" {_LAST_FIRST} LIMIT ?2",
        (actor, limit),
    )
    return [_group(row) for row in rows]


def last_undone(connection: Connection, actor: str, since: Micros) -> Group | None:
    """Return the last group that an actor undid `since` that time; None if there is none."""
    rows = connection.execute(
        f"{_SEQUENCE} {_COLUMNS} WHERE id = (SELECT undoes FROM change_group JOIN sequence"
        " ON sequence.row = change_group.id WHERE undoes IS NOT NULL AND actor = ? AND at >= ?"
        f" {_LAST_FIRST} LIMIT 1)",
        (actor, since),
    )
    return next((_group(row) for row in rows), None)


def recent(connection: Connection, limit: int) -> list[Group]:
    """Return the last groups of all actors, including undone groups and undos, newest first."""
    return [_group(row) for row in connection.execute(f"{_IN_SEQUENCE} {_LAST_FIRST} LIMIT ?", (limit,))]


def between(connection: Connection, low: bytes, high: bytes, limit: int) -> list[Group]:
    """Return the groups with ids in [low, high], at most `limit`."""
    rows = connection.execute(f"{_COLUMNS} WHERE uid BETWEEN ? AND ? ORDER BY uid LIMIT ?", (low, high, limit))
    return [_group(row) for row in rows]


def _group(row: tuple[Any, ...]) -> Group:
    own, uid, actor, at, verb, size, summary, undoes, undone = row
    return Group(
        row=int(own),
        uid=bytes(uid).hex(),
        actor=actor,
        at=Micros(at),
        verb=verb,
        size=int(size),
        summary=summary,
        undoes=undoes,
        undone=bool(undone),
    )
