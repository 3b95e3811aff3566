"""Untrusted content in sessions, and what was said under its influence (`derived/taint_consumer` maintains it).

A mark belongs to an item, at the beginning of one of its parts (0 if it has none):

    met       untrusted content, whether the row says so or it is known from elsewhere
    quoted    words of another author in a person's message, at their own beginning
    snippet   program text in a person's message: only what repeats it later is tainted
    tainted   what an agent said, or what its call printed, after it read untrusted content
    fetched   untrusted words were left behind: in a file, a reference, the working tree (`sessions/session_state`);
              `name` is its key
    made      local words were left there; `name` is its key
    local     a result that the row marks as untrusted, and that is local
    own       a call that is local because a person allows it (`trust.own`)
    awaited   a call that looks into such a file; `name` is the call's id
    gave      a call that gave a task to another agent while the caller's context had untrusted content
    reported  a sub-agent's report; `name` is its possible id, empty if there is none
    works     where a sub-agent's own session begins; `name` is that of the session for which it works

Names are keyed hashes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from palazzo.model import Micros
from palazzo.store.database import Connection

MarkKind = Literal[
    "met", "quoted", "snippet", "tainted", "fetched", "awaited", "gave", "reported", "works", "made", "local", "own"
]
_SAID_IN = "source = ?1 AND kind = 'message' AND standing = 'said'"
_UNTRUSTED_MARKS = "kind IN ('met', 'quoted')"
_MIN_BOUND, _MAX_BOUND = -(1 << 62), 1 << 62


class Mark(NamedTuple):
    """One mark: the item's row id, the position in it, the kind, and the hash of the name."""

    item: int
    start: int
    kind: MarkKind
    name: bytes = b""


class Thread(NamedTuple):
    """A thread of a source: rows that follow one another."""

    source: int
    name: str


def of_items(connection: Connection, rows: Iterable[int]) -> set[Mark]:
    """Return the marks of these items."""
    mark_rows = connection.execute(
        "SELECT item, start, kind, name FROM outside WHERE item IN (SELECT value FROM json_each(?))",
        (json.dumps([*rows]),),
    )
    return {Mark(int(item), int(start), kind, bytes(name)) for item, start, kind, name in mark_rows}


class Beginnings(NamedTuple):
    """The starts of an item's parts that count as untrusted, and of those that are confirmed as local."""

    outside: frozenset[int] = frozenset()
    local: frozenset[int] = frozenset()


def beginnings(connection: Connection, rows: Iterable[int]) -> dict[int, Beginnings]:
    """Return, by item, the starts of parts whose trust differs from the row's."""
    beginnings_by_item: dict[int, Beginnings] = {}
    for mark in of_items(connection, rows):
        item_beginnings = beginnings_by_item.get(mark.item, Beginnings())
        if mark.kind in ("met", "tainted"):
            beginnings_by_item[mark.item] = item_beginnings._replace(outside=item_beginnings.outside | {mark.start})
        elif mark.kind == "local":
            beginnings_by_item[mark.item] = item_beginnings._replace(local=item_beginnings.local | {mark.start})
    return beginnings_by_item


def replace(connection: Connection, source: int, old_marks: Collection[Mark], new_marks: Collection[Mark]) -> None:
    """Replace the marks `old_marks` of a source's items by the marks `new_marks`."""
    connection.executemany(
        "DELETE FROM outside WHERE item = ? AND start = ? AND kind = ? AND name = ?", set(old_marks) - set(new_marks)
    )
    connection.executemany(
        "INSERT OR IGNORE INTO outside(item, start, kind, name, source) VALUES(?,?,?,?,?)",
        [(*mark, source) for mark in set(new_marks) - set(old_marks)],
    )


def has_met(connection: Connection, thread: Thread, low: int = _MIN_BOUND, high: int = _MAX_BOUND) -> bool:
    """Whether untrusted content entered a thread, in [low, high) of its ordinals."""
    rows = connection.execute(
        "SELECT 1 FROM outside o CROSS JOIN item i ON i.id = o.item WHERE o.source = ?"
        f" AND o.{_UNTRUSTED_MARKS} AND i.thread = ? AND i.ordinal >= ? AND i.ordinal < ? LIMIT 1",
        (thread.source, thread.name, low, high),
    )
    return next(iter(rows), None) is not None


def has_snippet(connection: Connection, thread: Thread, high: int) -> bool:
    """Whether a person pasted program text into a thread before an ordinal."""
    rows = connection.execute(
        "SELECT 1 FROM outside o CROSS JOIN item i ON i.id = o.item WHERE o.source = ? AND o.kind = 'snippet'"
        " AND i.thread = ? AND i.ordinal < ? LIMIT 1",
        (thread.source, thread.name, high),
    )
    return next(iter(rows), None) is not None


def sources_that_met(connection: Connection, sources: Iterable[int]) -> set[int]:
    """Return the sources that hold untrusted content."""
    rows = connection.execute(
        "SELECT value FROM json_each(?) AS asked WHERE EXISTS (SELECT 1 FROM outside WHERE source = asked.value"
        f" AND {_UNTRUSTED_MARKS})",
        (json.dumps([*sources]),),
    )
    return {int(row) for (row,) in rows}


def first_met(connection: Connection, thread: Thread) -> int | None:
    """Return the ordinal of the first untrusted content in a thread."""
    rows = connection.execute(
        "SELECT min(i.ordinal) FROM outside o CROSS JOIN item i ON i.id = o.item WHERE o.source = ?"
        f" AND o.{_UNTRUSTED_MARKS} AND i.thread = ?",
        thread,
    )
    (first,) = next(iter(rows))
    return None if first is None else int(first)


def is_repeated(connection: Connection, source: int, ordinal: int) -> bool:
    """Whether a source's rows before `ordinal` that repeat others' items contain untrusted content."""
    rows = connection.execute(
        "SELECT 1 FROM repetition r CROSS JOIN outside o ON o.item = r.item WHERE r.source = ? AND r.ordinal < ?"
        f" AND o.{_UNTRUSTED_MARKS} LIMIT 1",
        (source, ordinal),
    )
    return next(iter(rows), None) is not None


def met_in(connection: Connection, threads: Iterable[Thread], since: int, until: int = _MAX_BOUND) -> bool:
    """Whether untrusted content entered one of the threads at a time in [since, until]."""
    return any(_is_marked(connection, _UNTRUSTED_MARKS, thread, since, until) for thread in threads)


def has_given(connection: Connection, thread: Thread, since: Micros, until: Micros) -> bool:
    """Whether an agent tainted by untrusted content gave a task to another in [since, until]."""
    return _is_marked(connection, "kind = 'gave'", thread, since, until)


def _is_marked(connection: Connection, kinds: str, thread: Thread, since: int, until: int) -> bool:
    rows = connection.execute(
        "SELECT 1 FROM outside o CROSS JOIN item i ON i.id = o.item WHERE o.source = ?"
        f" AND o.{kinds} AND i.thread = ? AND i.created_at BETWEEN ? AND ? LIMIT 1",
        (thread.source, thread.name, since, until),
    )
    return next(iter(rows), None) is not None


class Trace(NamedTuple):
    """A key of a file, a reference or the working tree that a call changed, and the time."""

    thread: Thread
    ordinal: int
    at: Micros
    start: int
    kind: MarkKind
    name: bytes


def traces(connection: Connection, sources: Sequence[int]) -> list[Trace]:
    """Return the foreign and own keys that calls in these sources recorded."""
    rows = connection.execute(
        "SELECT i.source, i.thread, i.ordinal, i.created_at, o.start, o.kind, o.name"
        " FROM outside o CROSS JOIN item i ON i.id = o.item"
        " WHERE o.kind IN ('fetched', 'made') AND o.source IN (SELECT value FROM json_each(?))",
        (json.dumps([*sources]),),
    )
    return [
        Trace(Thread(int(source), str(thread)), int(ordinal), Micros(at), int(start), kind, bytes(name))
        for source, thread, ordinal, at, start, kind, name in rows
    ]


def has_own_call(connection: Connection, item: int, start: int) -> bool:
    """Whether a call was judged local because of the user's allow-list at that time."""
    rows = connection.execute("SELECT 1 FROM outside WHERE item = ? AND start = ? AND kind = 'own'", (item, start))
    return next(iter(rows), None) is not None


def is_awaited(connection: Connection, thread: Thread, name: bytes, ordinal: int) -> bool:
    """Whether a call with this hash, before that ordinal, has output that is not known to be local."""
    rows = connection.execute(
        "SELECT 1 FROM outside o CROSS JOIN item i ON i.id = o.item WHERE o.name = ? AND o.name <> x''"
        " AND o.kind = 'awaited' AND o.source = ? AND i.thread = ? AND i.ordinal < ?",
        (name, thread.source, thread.name, ordinal),
    )
    return next(iter(rows), None) is not None


def find_reports(connection: Connection, name: bytes) -> list[tuple[Thread, int]]:
    """Return (thread, ordinal) of the rows in which the sub-agent with that name may have reported."""
    rows = connection.execute(
        "SELECT DISTINCT i.source, i.thread, i.ordinal FROM outside o CROSS JOIN item i ON i.id = o.item"
        " WHERE o.name = ? AND o.name <> x'' AND o.kind = 'reported' ORDER BY 1, 2, 3",
        (name,),
    )
    return [(Thread(int(source), str(thread)), int(ordinal)) for source, thread, ordinal in rows]


def reports(connection: Connection, thread: Thread, since: Micros) -> int | None:
    """Return the first ordinal at which a sub-agent reported in a thread, `since` that time."""
    rows = connection.execute(
        "SELECT min(i.ordinal) FROM outside o CROSS JOIN item i ON i.id = o.item WHERE o.source = ?"
        " AND o.kind = 'reported' AND i.thread = ? AND i.created_at >= ?",
        (*thread, since),
    )
    (first,) = next(iter(rows))
    return None if first is None else int(first)


def find_session_tree(connection: Connection, session: str) -> dict[int, tuple[str, str]]:
    """Return the sources of a session and its sub-agents, each with its own session id and kind."""
    rows = connection.execute(
        "SELECT id, session_id, kind FROM source WHERE session_id <> ''"
        " AND (session_id = ?1 OR (session_id > ?1 || '/' AND session_id < ?1 || '0'))",  # 0 comes after the stroke
        (session,),
    )
    return {int(row): (str(own), str(kind)) for row, own, kind in rows}


def find_workers(connection: Connection, name: bytes) -> dict[int, tuple[str, str]]:
    """Return the sources of sub-agents of the session with that (hashed) name, each with its own id and kind."""
    rows = connection.execute(
        "SELECT DISTINCT s.id, s.session_id, s.kind FROM outside o JOIN source s ON s.id = o.source"
        " WHERE o.name = ? AND o.name <> x'' AND o.kind = 'works'",
        (name,),
    )
    return {int(row): (str(own), str(kind)) for row, own, kind in rows}


def sources_of(connection: Connection, sessions: Iterable[str]) -> list[int]:
    """Return the sources of the sessions with these ids."""
    rows = connection.execute(
        "SELECT id FROM source WHERE session_id <> '' AND session_id IN (SELECT value FROM json_each(?)) ORDER BY id",
        (json.dumps([*sessions]),),
    )
    return [int(row) for (row,) in rows]


def threads(connection: Connection, sources: Iterable[int]) -> list[Thread]:
    """Return the threads of these sources that contain messages."""
    thread_list = []
    for source in sources:
        rows = connection.execute(
            f"WITH RECURSIVE one(name) AS (SELECT min(thread) FROM item WHERE {_SAID_IN} UNION ALL SELECT"
            f" (SELECT min(thread) FROM item WHERE {_SAID_IN} AND thread > name) FROM one WHERE name IS NOT NULL)"
            " SELECT name FROM one WHERE name IS NOT NULL",
            (source,),
        )
        thread_list += [Thread(source, str(name)) for (name,) in rows]
    return thread_list


def count(connection: Connection) -> int:
    """Return the number of stored marks."""
    return int(next(connection.execute("SELECT count(*) FROM outside"))[0])
