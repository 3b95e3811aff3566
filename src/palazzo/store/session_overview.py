"""All sessions at a glance: when each began and ended, where it is filed, its turns, and what came of it.

Every function answers for many sessions with one statement, so that a list of ten thousand stays fast.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import NamedTuple

from palazzo.model import Micros
from palazzo.store.database import Connection
from palazzo.store.keyword_postings import sizes

HOUR = 3_600_000_000
_MAIN_MESSAGES = "FROM item WHERE source = s.id AND thread = '' AND kind = 'message'"
_OF_SUB_AGENT = (
    "instr(s.session_id, '/') AND EXISTS (SELECT 1 FROM source parent WHERE parent.session_id <> ''"
    " AND parent.session_id = substr(s.session_id, 1, instr(s.session_id, '/') - 1))"
)


class SessionFilter(NamedTuple):
    """Which sessions: those of a wing, active from `since` to before `until`, with words from a branch."""

    wing: str | None = None
    since: Micros | None = None
    until: Micros | None = None
    branch: str | None = None
    session: str | None = None


class SessionSpan(NamedTuple):
    """A source that holds a session, its first and last message, and the wing of the last one."""

    source: int
    session: str
    kind: str
    uri: str
    title: str
    wing: str
    began_at: Micros
    ended_at: Micros


class SessionOrigin(NamedTuple):
    """A source that holds a session, and where it came from."""

    source: int
    kind: str
    uri: str


class SessionDetail(NamedTuple):
    """The user's messages in a source, its last branch, and whether its speaker is the user of this palace."""

    turns: int
    branch: str
    is_own: bool


def spans(
    connection: Connection, session_filter: SessionFilter, sources: Collection[int] | None = None
) -> list[SessionSpan]:
    """Return the sources that hold sessions, the last active one first, without sub-agents and forgotten sessions.

    With `sources`, only those of them.
    """
    among = "" if sources is None else " AND s.id IN (SELECT value FROM json_each(?6))"
    rows = connection.execute(
        f"SELECT id, session_id, kind, uri, title, wing, began, ended FROM (SELECT s.id, s.session_id, s.kind, s.uri,"
        f" s.title, wing.name AS wing, last.created_at AS ended,"
        f" (SELECT created_at {_MAIN_MESSAGES} ORDER BY ordinal LIMIT 1) AS began"
        f" FROM source s JOIN item last ON last.id = (SELECT id {_MAIN_MESSAGES} ORDER BY ordinal DESC LIMIT 1)"
        " JOIN room ON room.id = last.room JOIN wing ON wing.id = room.wing"
        f" WHERE s.session_id <> '' AND NOT ({_OF_SUB_AGENT})"
        " AND EXISTS (SELECT 1 FROM drawer d WHERE d.source = s.id AND d.retired_at IS NULL)"
        " AND (?1 IS NULL OR wing.name = ?1)"
        " AND (?4 IS NULL OR s.id IN (SELECT source FROM drawer WHERE branch = ?4 AND retired_at IS NULL))"
        f" AND (?5 IS NULL OR s.session_id = ?5){among})"
        " WHERE (?2 IS NULL OR ended >= ?2) AND (?3 IS NULL OR began < ?3) ORDER BY ended DESC, id DESC",
        (*session_filter, *(() if sources is None else (json.dumps([*sources]),))),
    )
    return [
        SessionSpan(int(row), session, kind, uri, title, wing, Micros(began), Micros(ended))
        for row, session, kind, uri, title, wing, began, ended in rows
    ]


def sources_of_branch(connection: Connection, branch: str) -> set[int]:
    """Return the sources with live drawers from a branch."""
    rows = connection.execute("SELECT DISTINCT source FROM drawer WHERE branch = ? AND retired_at IS NULL", (branch,))
    return {int(source) for (source,) in rows}


def sessions_of_sources(connection: Connection, sources: Collection[int]) -> set[str]:
    """Return the ids of the sessions that these sources hold."""
    rows = connection.execute(
        "SELECT DISTINCT session_id FROM source WHERE session_id <> '' AND id IN (SELECT value FROM json_each(?))",
        (json.dumps([*sources]),),
    )
    return {str(session) for (session,) in rows}


def origins(connection: Connection) -> list[SessionOrigin]:
    """Return all sources that hold sessions, those of sub-agents included."""
    rows = connection.execute("SELECT id, kind, uri FROM source WHERE session_id <> '' ORDER BY id")
    return [SessionOrigin(int(row), str(kind), str(uri)) for row, kind, uri in rows]


def details(connection: Connection, sources: Iterable[int]) -> dict[int, SessionDetail]:
    """Return the details of these sources."""
    rows = connection.execute(
        f"SELECT s.id, (SELECT count(*) {_MAIN_MESSAGES} AND standing = 'said' AND role = 'user' AND trust <> 'agent'),"
        f" coalesce((SELECT branch {_MAIN_MESSAGES} AND branch <> '' ORDER BY ordinal DESC LIMIT 1), ''),"
        f" EXISTS (SELECT 1 {_MAIN_MESSAGES} AND trust IN ('user', 'agent'))"
        " FROM source s WHERE s.id IN (SELECT value FROM json_each(?))",
        (json.dumps([*sources]),),
    )
    return {int(row): SessionDetail(int(turns), str(branch), bool(is_own)) for row, turns, branch, is_own in rows}


def digest_counts(connection: Connection, sources: Iterable[int]) -> dict[int, dict[str, int]]:
    """Return the number of digest lines of each kind, by source; lines in sub-agents' threads do not count."""
    counts: dict[int, dict[str, int]] = {}
    rows = connection.execute(
        "SELECT l.source, l.kind, count(*) FROM digest_line l JOIN item i ON i.id = l.item WHERE i.thread = ''"
        " AND l.source IN (SELECT value FROM json_each(?)) GROUP BY l.source, l.kind",
        (json.dumps([*sources]),),
    )
    for source, kind, count in rows:
        counts.setdefault(int(source), {})[str(kind)] = int(count)
    return counts


def all_session_ids(connection: Connection) -> list[str]:
    """Return the ids of all sessions, sub-agents' included, in order."""
    rows = connection.execute("SELECT DISTINCT session_id FROM source WHERE session_id <> '' ORDER BY session_id")
    return [str(session) for (session,) in rows]


# --- figures -----------------------------------------------------------------------------------------------


def exchanges_by_hour(connection: Connection) -> dict[int, int]:
    """Return the number of live drawers of sessions by hour since 1970; hours without any are absent."""
    rows = connection.execute(
        f"SELECT created_at / {HOUR}, count(*) FROM drawer WHERE retired_at IS NULL AND created_at > 0"
        " AND source IN (SELECT id FROM source WHERE session_id <> '') GROUP BY 1"
    )
    return {int(hour): int(count) for hour, count in rows}


def count_words(connection: Connection) -> int:
    """Return the number of words in all live drawers, as the keyword index counts them."""
    _, records = sizes(connection, None)
    return count_words_of_records(records)


def count_words_of_records(records: str) -> int:
    """Return the sum of words of drawers' bodies, from the size records of drawers, joined by commas."""
    return sum(_first_varint(record) for record in records.split(",") if record)


def _first_varint(record: str) -> int:
    """Return the first number of a size record: the words of a drawer's body."""
    value = 0
    for byte in bytes.fromhex(record):
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            break
    return value
