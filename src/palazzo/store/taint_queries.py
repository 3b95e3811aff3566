"""Content trusted no more than untrusted content: what sessions have read of it, and notes, facts and the like.

A drawer states the trust of its words (`derive` determines it, and a person's approval counts there); a fact states the
trust of each of its sources.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from palazzo.model import Micros, Part, Trust
from palazzo.store.database import Connection
from palazzo.store.drawers import REPLACED
from palazzo.store.exchange_rows import SOURCE_KIND
from palazzo.store.items import decode_text, load_parts

AUTHORED_KINDS = ("note", "diary", "todo", "reminder")
"""Kinds of drawers that are written deliberately."""


class Outsider(NamedTuple):
    """An item with a part in an untrusted drawer: the kind of that drawer, and the item's parts."""

    row: int
    uid: str
    kind: str
    trust: Trust
    parts: tuple[Part, ...]
    size: int
    is_met: bool
    """Whether untrusted content came in with it, although the item itself does not say so (`store/taint_rows`)."""


def outsiders(connection: Connection, sources: Iterable[int]) -> list[Outsider]:
    """Return such items that sources contain or repeat, in order, including forgotten ones."""
    rows = connection.execute(
        f"{_OUTSIDERS} AND (d.source IN (SELECT value FROM json_each(?1)) OR s.item IN (SELECT item FROM repetition"
        " WHERE source IN (SELECT value FROM json_each(?1)))) ORDER BY item.id",
        (json.dumps([*sources]),),
    )
    return [_outsider(row) for row in rows]


def outsiders_called(connection: Connection, uids: Iterable[str]) -> list[Outsider]:
    """Return such items with one of these ids, or with a drawer with one of them.

    Events and artifacts of agents have no drawers; each that is marked as external counts like a note.
    """
    rows = connection.execute(
        "WITH asked(uid) AS (SELECT unhex(value) FROM json_each(?))"
        f" {_OUTSIDERS} AND (d.uid IN (SELECT uid FROM asked) OR item.uid IN (SELECT uid FROM asked))"
        f" UNION {_EXTERNAL_EVENTS} ORDER BY 1",
        (json.dumps([*uids]),),
    )
    return [_outsider(row) for row in rows]


_OUTSIDERS = (
    "SELECT DISTINCT item.id, item.uid, d.kind, item.trust, item.parts, s.end,"
    " EXISTS (SELECT 1 FROM outside o WHERE o.item = item.id AND o.kind IN ('met', 'quoted')) FROM drawer d"
    " JOIN drawer_span s ON s.drawer = d.id JOIN item ON item.id = s.item"
    f" WHERE d.trust = 'external' AND coalesce(d.retired_why, '') <> '{REPLACED}'"
)
_EXTERNAL_EVENTS = (
    "SELECT item.id, item.uid, 'note', item.trust, item.parts, 0, 0 FROM item JOIN source ON source.id = item.source"
    f" WHERE source.kind = '{SOURCE_KIND}' AND item.trust = 'external' AND item.uid IN (SELECT uid FROM asked)"
)


def _outsider(row: tuple[Any, ...]) -> Outsider:
    own, uid, kind, trust, parts, end, is_met = row
    return Outsider(int(own), bytes(uid).hex(), kind, trust, load_parts(parts), int(end), bool(is_met))


def tool_rows(connection: Connection, sources: Iterable[int]) -> list[tuple[str, tuple[Part, ...]]]:
    """Return the text and parts of each message of sources that has a tool call or tool output, in order."""
    rows = connection.execute(
        "SELECT text, text_codec, parts FROM item WHERE source IN (SELECT value FROM json_each(?))"
        " AND kind = 'message' AND parts LIKE '%\"tool_%' ORDER BY id",
        (json.dumps([*sources]),),
    )
    return [(decode_text(text, codec), load_parts(parts)) for text, codec, parts in rows]


def taint_of(connection: Connection, item: str) -> tuple[str, ...]:
    """Return the ids of the items that tainted a note; none if it is untainted, or not a note."""
    rows = connection.execute(
        "SELECT json_extract(meta, '$.tainted_by') FROM item WHERE uid = ?", (bytes.fromhex(item),)
    )
    return next((tuple(json.loads(taint_json)) for (taint_json,) in rows if taint_json), ())


# --- sessions ----------------------------------------------------------------------------------------------


class Stretch(NamedTuple):
    """A source of a session, and the times of its first and last message."""

    source: int
    first: Micros
    last: Micros


def of_session(connection: Connection, session: str) -> list[int]:
    """Return the sources of a session and of its sub-agents."""
    rows = connection.execute(
        "SELECT id FROM source WHERE session_id = ?1 AND ?1 <> ''"
        " UNION ALL SELECT id FROM source WHERE session_id > ?1 || '/' AND session_id < ?1 || '0'",  # `0` follows `/`
        (session,),
    )
    return [int(row) for (row,) in rows]


def stretches(connection: Connection, sources: Sequence[int]) -> list[Stretch]:
    """Return the start and end times of sources; sources without messages are left out."""
    rows = connection.execute(
        "SELECT source, first, last FROM (SELECT value AS source,"
        " (SELECT created_at FROM item WHERE source = value AND kind = 'message' ORDER BY id LIMIT 1) AS first,"
        " (SELECT created_at FROM item WHERE source = value AND kind = 'message' ORDER BY id DESC LIMIT 1) AS last"
        " FROM json_each(?)) WHERE first IS NOT NULL",
        (json.dumps([*sources]),),
    )
    return [Stretch(int(source), Micros(first), Micros(last)) for source, first, last in rows]


class SessionSource(NamedTuple):
    """A source of a session: its kind, and the identity of its project."""

    source: int
    kind: str
    project: str


def active_sessions(connection: Connection, newest_items: int) -> list[SessionSource]:
    """Return the session sources of the newest items, including sessions that continued after a pause."""
    rows = connection.execute(
        "SELECT id, kind, project FROM source WHERE session_id <> '' AND id IN"
        " (SELECT source FROM item WHERE id > (SELECT max(id) FROM item) - ?) ORDER BY id DESC",
        (newest_items,),
    )
    return [SessionSource(int(source), kind, project) for source, kind, project in rows]


def kinds_of(connection: Connection, sources: Iterable[int]) -> dict[int, str]:
    """Return the kind of each of these sources."""
    rows = connection.execute(
        "SELECT id, kind FROM source WHERE id IN (SELECT value FROM json_each(?))", (json.dumps([*sources]),)
    )
    return {int(source): str(kind) for source, kind in rows}


# --- what waits to be judged -------------------------------------------------------------------------------


class AuthoredDrawer(NamedTuple):
    """A live, deliberately written drawer that is not trusted: its item, and what tainted it."""

    drawer: str
    item: str
    tainted_by: tuple[str, ...]


def find_authored_drawers(connection: Connection, at_most: int = -1) -> list[AuthoredDrawer]:
    """Return the explicitly written entries that are quarantined, newest first."""
    rows = connection.execute(
        "SELECT d.uid, item.uid, coalesce(json_extract(item.meta, '$.tainted_by'), '[]') FROM drawer d"
        " JOIN drawer_span s ON s.drawer = d.id AND s.n = 0 JOIN item ON item.id = s.item"
        f" WHERE d.trust = 'external' AND d.retired_at IS NULL AND d.kind IN ({_marks(AUTHORED_KINDS)})"
        " ORDER BY d.id DESC LIMIT ?",
        (*AUTHORED_KINDS, at_most),
    )
    return [
        AuthoredDrawer(bytes(uid).hex(), bytes(item).hex(), tuple(json.loads(taint_json)))
        for uid, item, taint_json in rows
    ]


def count_written(connection: Connection) -> int:
    """Return the number of live, explicitly written drawers that are quarantined."""
    rows = connection.execute(
        "SELECT count(*) FROM drawer WHERE trust = 'external' AND retired_at IS NULL AND kind IN "
        f"({_marks(AUTHORED_KINDS)})",
        AUTHORED_KINDS,
    )
    return int(next(rows)[0])


def count_facts(connection: Connection) -> int:
    """Return the number of facts whose only sources are untrusted."""
    rows = connection.execute(
        "SELECT count(*) FROM fact_version v WHERE v.retired_at IS NULL"
        " AND v.id IN (SELECT version FROM fact_source WHERE trust = 'external')"
        " AND NOT EXISTS (SELECT 1 FROM fact_source s WHERE s.version = v.id AND s.trust <> 'external')"
    )
    return int(next(rows)[0])


def count_waiting(connection: Connection) -> int:
    """Return the numbers of explicitly written drawers and of facts that are quarantined."""
    return count_written(connection) + count_facts(connection)


def find_unauthored_drawers(connection: Connection, at_most: int) -> list[int]:
    """Return the row ids of live, untrusted drawers that no one wrote explicitly, newest first."""
    rows = connection.execute(
        "SELECT id FROM drawer WHERE trust = 'external' AND retired_at IS NULL"
        f" AND kind NOT IN ({_marks(AUTHORED_KINDS)}) ORDER BY id DESC LIMIT ?",
        (*AUTHORED_KINDS, at_most),
    )
    return [int(row) for (row,) in rows]


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


# --- what is derived from it -------------------------------------------------------------------------------


class Under(NamedTuple):
    """A note whose author had read certain items: its own id, and the row ids of its live drawers."""

    item: str
    drawers: tuple[int, ...]


def drawers_at(connection: Connection, item: int, start: int, end: int) -> list[int]:
    """Return the row ids of the live drawers that contain a part of a range of an item."""
    rows = connection.execute(
        "SELECT DISTINCT d.id FROM drawer_span s JOIN drawer d ON d.id = s.drawer"
        " WHERE s.item = ? AND s.start < ? AND s.end > ? AND d.retired_at IS NULL ORDER BY d.id",
        (item, end, start),
    )
    return [int(row) for (row,) in rows]


def find_tainted_replies(connection: Connection, item: int) -> list[int]:
    """Return the live tainted drawers after a message in its thread, until a person's next message.

    Untrusted content itself is excluded, but reports of sub-agents are included.
    """
    rows = connection.execute(
        "WITH own AS (SELECT source, thread, ordinal FROM item WHERE id = ? AND kind = 'message'),"
        " next AS (SELECT min(i.ordinal) AS ordinal FROM item i, own WHERE i.source = own.source"
        " AND i.thread = own.thread AND i.ordinal > own.ordinal AND i.kind = 'message' AND i.standing = 'said'"
        " AND i.role = 'user' AND i.trust = 'user')"
        " SELECT DISTINCT d.id FROM own, next, item i JOIN drawer_span s ON s.item = i.id"
        " JOIN drawer d ON d.id = s.drawer WHERE i.source = own.source AND i.thread = own.thread"
        " AND i.ordinal > own.ordinal AND (next.ordinal IS NULL OR i.ordinal < next.ordinal)"
        " AND d.retired_at IS NULL AND EXISTS (SELECT 1 FROM outside o WHERE o.item = i.id AND o.kind = 'tainted')"
        " AND NOT EXISTS (SELECT 1 FROM drawer_span beside JOIN outside o ON o.item = beside.item AND o.kind = 'met'"
        " WHERE beside.drawer = d.id AND NOT EXISTS"
        " (SELECT 1 FROM outside r WHERE r.item = beside.item AND r.kind = 'reported')) ORDER BY d.id",
        (item,),
    )
    return [int(row) for (row,) in rows]


def reports_of(connection: Connection, item: int) -> list[int]:
    """Return the items with later reports of untrusted content by sub-agents of the message's session.

    None if the message is not in a sub-agent's thread.
    """
    rows = connection.execute(
        "WITH own AS (SELECT i.thread, i.created_at AS at, s.session_id AS session FROM item i"
        " JOIN source s ON s.id = i.source WHERE i.id = ?), above AS (SELECT source.id FROM source, own"
        " WHERE session_id <> '' AND session_id = CASE instr(own.session, '/') WHEN 0 THEN own.session"
        " ELSE substr(own.session, 1, instr(own.session, '/') - 1) END)"
        " SELECT DISTINCT o.item FROM own, outside o JOIN item i ON i.id = o.item"
        " WHERE o.source IN (SELECT id FROM above) AND o.kind = 'reported' AND i.created_at >= own.at"
        " AND (own.thread <> '' OR instr(own.session, '/')) AND EXISTS"
        " (SELECT 1 FROM outside met WHERE met.item = o.item AND met.kind = 'met') ORDER BY o.item",
        (item,),
    )
    return [int(row) for (row,) in rows]


def called_from_outside(connection: Connection) -> list[int]:
    """Return the row ids of untrusted tool drawers, including those that a person has approved since."""
    rows = connection.execute(
        "SELECT id FROM drawer WHERE trust = 'external' AND kind = 'tool' UNION SELECT d.id FROM act"
        " JOIN act_span s ON s.act = act.id JOIN drawer d ON d.uid = s.drawer_uid WHERE act.kind = 'approve'"
        " AND d.kind = 'tool' ORDER BY 1"
    )
    return [int(row) for (row,) in rows]


def approved_notes(connection: Connection, rooms: Iterable[int]) -> list[int]:
    """Return the row ids of live notes in these rooms that a person has approved, and that are trusted since."""
    rows = connection.execute(
        "SELECT DISTINCT d.id FROM act JOIN act_span s ON s.act = act.id JOIN drawer d ON d.uid = s.drawer_uid"
        " WHERE act.kind = 'approve' AND d.kind = 'note' AND d.trust <> 'external' AND d.retired_at IS NULL"
        " AND d.room IN (SELECT value FROM json_each(?)) ORDER BY d.id",
        (json.dumps([*rooms]),),
    )
    return [int(row) for (row,) in rows]


def written_under(connection: Connection, items: Iterable[str]) -> list[Under]:
    """Return the notes, entries, to-dos and reminders whose writer had met one of these items."""
    rows = connection.execute(
        "SELECT item.uid, (SELECT json_group_array(DISTINCT d.id) FROM drawer_span s JOIN drawer d ON d.id = s.drawer"
        " WHERE s.item = item.id AND d.retired_at IS NULL) FROM source CROSS JOIN item ON item.source = source.id"
        " WHERE source.kind = 'note' AND EXISTS (SELECT 1 FROM json_each(item.meta, '$.tainted_by') met"
        " WHERE met.value IN (SELECT value FROM json_each(?))) ORDER BY item.id",
        (json.dumps([*items]),),
    )
    return [Under(bytes(uid).hex(), tuple(json.loads(drawers))) for uid, drawers in rows]


def stated_under(connection: Connection, items: Iterable[str]) -> list[int]:
    """Return the row ids of fact versions, believed now, with a source that had met one of these items."""
    rows = connection.execute(
        "SELECT DISTINCT v.id FROM fact_source s JOIN fact_version v ON v.id = s.version"
        " WHERE s.tainted_by <> '[]' AND v.retired_at IS NULL AND EXISTS (SELECT 1 FROM json_each(s.tainted_by) met"
        " WHERE met.value IN (SELECT value FROM json_each(?))) ORDER BY v.id",
        (json.dumps([*items]),),
    )
    return [int(row) for (row,) in rows]
