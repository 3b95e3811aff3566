"""Lines of session digests: derived (`derived/digest_consumer`). They contain positions; the words are in the
items.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from palazzo.model import Micros
from palazzo.store import items
from palazzo.store.database import Connection


class LineRow(NamedTuple):
    """A stored line: the n-th of a source; `about_item` is the item that contains what it answers, if any."""

    source: int
    n: int
    kind: str
    item: int
    start: int
    end: int
    about_item: int | None
    about_start: int | None
    about_end: int | None
    said_at: int


class Quote(NamedTuple):
    """Quoted words and their place: the item's id, start, end."""

    item: str
    start: int
    end: int
    text: str


class DigestLine(NamedTuple):
    """A line with its text: its session and wing, who said it when, and, for a short answer, what it answers."""

    kind: str
    session: str
    wing: str
    role: str
    said_at: Micros
    quote: Quote
    about: Quote | None
    is_untrusted: bool = False
    about_is_untrusted: bool = False
    """Whether an agent said the words, or the words that they answer, after it read untrusted content."""

    @property
    def words(self) -> str:
        """Return the text to inject: a short answer with what it answers, if that may be injected."""
        if self.about is None or self.about_is_untrusted:
            return self.quote.text
        return f"{self.quote.text} (to: {self.about.text})"


_COLUMNS = "source, n, kind, item, start, end, about_item, about_start, about_end, said_at"


def of_session(connection: Connection, session: str) -> list[DigestLine]:
    """Return the digest of a session, in the order of its words; of all sources that contain it."""
    of_the_session = "l.source IN (SELECT id FROM source WHERE session_id = ?1 AND session_id <> '')"
    return _read(connection, f"{of_the_session} ORDER BY l.source, l.n", (session,))


def of_sources(connection: Connection, sources: Iterable[int], kind: str) -> list[DigestLine]:
    """Return the lines of one kind of these sources, in the order of their words; not of sub-agents' threads."""
    return _read(
        connection,
        "l.source IN (SELECT value FROM json_each(?1)) AND l.kind = ?2 AND i.thread = '' ORDER BY l.source, l.n",
        (json.dumps([*sources]), kind),
    )


def last_lines(connection: Connection, sources: Iterable[int]) -> list[DigestLine]:
    """Return the last line of each kind of these sources; not of sub-agents' threads."""
    return _read(
        connection,
        "l.source IN (SELECT value FROM json_each(?1)) AND i.thread = '' AND NOT EXISTS"
        " (SELECT 1 FROM digest_line after JOIN item own ON own.id = after.item"
        " WHERE after.source = l.source AND after.kind = l.kind"
        " AND after.n > l.n AND own.thread = '') ORDER BY l.source, l.n",
        (json.dumps([*sources]),),
    )


class SubAgent(NamedTuple):
    """A sub-agent's session: its id, its purpose, and the number of lines in its digest."""

    session: str
    title: str
    lines: int


def sub_agents(connection: Connection, session: str) -> list[SubAgent]:
    """Return the sub-agents of a session, in the order in which they were ingested."""
    rows = connection.execute(
        "SELECT s.session_id, s.title, count(l.n) FROM source s LEFT JOIN digest_line l ON l.source = s.id"
        " WHERE s.session_id <> '' AND s.session_id > ?1 AND s.session_id < ?2"
        " GROUP BY s.session_id ORDER BY min(s.id)",
        (f"{session}/", f"{session}0"),  # 0 comes after the stroke
    )
    return [SubAgent(str(own), str(title), int(lines)) for own, title, lines in rows]


def threads_of(connection: Connection, source: int) -> list[str]:
    """Return the threads of a source that contain messages, its main thread ('') first."""
    rows = connection.execute(
        "SELECT thread FROM item WHERE source = ? AND kind = 'message' AND standing = 'said' GROUP BY thread"
        " ORDER BY thread <> '', min(id)",
        (source,),
    )
    return [str(thread) for (thread,) in rows]


def open_lines(connection: Connection, wing: str, limit: int = 100) -> list[DigestLine]:
    """Return the open threads of a wing's sessions, newest first; not of sub-agents, who report to them."""
    return _of_wings(connection, [wing], "open", limit)


def open_in(connection: Connection, drawers: Iterable[int], limit: int = 100) -> list[DigestLine]:
    """Return the open threads recorded in these drawers, newest first."""
    return _read(
        connection,
        "l.kind = 'open' AND i.thread = '' AND l.item IN (SELECT item FROM drawer_span WHERE drawer IN"
        " (SELECT value FROM json_each(?1))) ORDER BY l.said_at DESC, l.source DESC, l.n DESC LIMIT ?2",
        (json.dumps(sorted(drawers)), limit),
    )


def decisions(connection: Connection, wings: Iterable[str], limit: int = 100) -> list[DigestLine]:
    """Return the decisions of wings' sessions, newest first; instructions to a sub-agent are not decisions."""
    return _of_wings(connection, wings, "decided", limit)


def in_own_words(connection: Connection, kinds: Iterable[str], limit: int) -> list[DigestLine]:
    """Return lines of these kinds that the person wrote, newest first; not an agent's or another person's words."""
    return _read(
        connection,
        "l.kind IN (SELECT value FROM json_each(?1)) AND i.role = 'user' AND i.trust = 'user' AND i.thread = ''"
        " ORDER BY l.said_at DESC, l.source DESC, l.n DESC LIMIT ?2",
        (json.dumps([*kinds]), limit),
    )


def of_items(connection: Connection, rows: Iterable[int], kind: str) -> list[DigestLine]:
    """Return the lines of one kind that these items contain, oldest first; excludes those of sub-agents."""
    return _read(
        connection,
        "l.item IN (SELECT value FROM json_each(?1)) AND l.kind = ?2 AND i.thread = ''"
        " ORDER BY l.said_at, l.source, l.n",
        (json.dumps(sorted(set(rows))), kind),
    )


def _of_wings(connection: Connection, wings: Iterable[str], kind: str, limit: int) -> list[DigestLine]:
    return _read(
        connection,
        "w.name IN (SELECT value FROM json_each(?1)) AND l.kind = ?2 AND i.thread = ''"
        " ORDER BY l.said_at DESC, l.source DESC, l.n DESC LIMIT ?3",
        (json.dumps([*wings]), kind, limit),
    )


def _read(connection: Connection, condition: str, values: tuple[str | int, ...]) -> list[DigestLine]:
    rows = list(
        connection.execute(
            "SELECT l.kind, s.session_id, w.name,"
            " CASE WHEN i.role = 'user' AND i.trust = 'agent' THEN 'assistant' ELSE i.role END,"
            " i.created_at, l.item, l.start, l.end,"
            f" CASE WHEN {make_visibility_sql('l.about_item', 'l.about_start', 'l.about_end')} THEN l.about_item END,"
            f" l.about_start, l.about_end, {_said_under('i.id')}, {_said_under('l.about_item')}"
            " FROM digest_line l JOIN source s ON s.id = l.source"
            " JOIN item i ON i.id = l.item JOIN room r ON r.id = i.room JOIN wing w ON w.id = r.wing"
            f" WHERE {make_visibility_sql('l.item', 'l.start', 'l.end')} AND {condition}",
            values,
        )
    )
    item_rows = sorted({int(row[n]) for row in rows for n in (5, 8) if row[n] is not None})
    texts, uids = items.read_texts(connection, item_rows), items.item_ids(connection, item_rows)

    def make_quote(item: int, start: int, end: int) -> Quote:
        return Quote(uids[item], start, end, texts[item][start:end])

    return [
        DigestLine(
            kind,
            session,
            wing,
            role,
            Micros(at),
            make_quote(*quote_place),
            None if about[0] is None else make_quote(*about),
            bool(under),
            bool(about_under),
        )
        for kind, session, wing, role, at, *places, under, about_under in rows
        for quote_place, about in [(places[:3], places[3:])]
    ]


def make_visibility_sql(item: str, start: str, end: str, condition: str = "TRUE") -> str:
    """Return SQL that tells whether a live drawer (`d`, for which `only` holds) shows a range of an item.

    Content forgotten a moment ago is in no result, whether derived again or not.
    """
    return (
        f"EXISTS (SELECT 1 FROM drawer_span p JOIN drawer d ON d.id = p.drawer WHERE p.item = {item}"
        f" AND d.retired_at IS NULL AND p.start < {end} AND p.end > {start} AND {condition})"
    )


# --- keeping them ------------------------------------------------------------------------------------------


def replace(connection: Connection, source: int, rows: Iterable[LineRow]) -> None:
    """Replace a source's lines with these."""
    connection.execute("DELETE FROM digest_line WHERE source = ?", (source,))
    connection.executemany(f"INSERT INTO digest_line({_COLUMNS}) VALUES(?,?,?,?,?,?,?,?,?,?)", rows)


def trusted_of_source(connection: Connection, source: int) -> list[LineRow]:
    """Return a source's lines, in order, without an agent's lines after it met untrusted content."""
    columns = ", ".join(f"l.{name.strip()}" for name in _COLUMNS.split(","))
    rows = connection.execute(
        f"SELECT {columns} FROM digest_line l WHERE l.source = ? AND NOT {_said_under('l.item')} ORDER BY l.n",
        (source,),
    )
    return [LineRow(*row) for row in rows]


def _said_under(item: str) -> str:
    """Return SQL for whether a non-person item has untrusted content in it, or before it in its thread."""
    return (
        f"coalesce((SELECT NOT (own.role = 'user' AND own.trust = 'user') AND EXISTS (SELECT 1 FROM outside o"
        " JOIN item met ON met.id = o.item WHERE o.source = own.source AND o.kind IN ('met', 'quoted')"
        f" AND met.thread = own.thread AND met.ordinal <= own.ordinal) FROM item own WHERE own.id = {item}), 0)"
    )


def of_source(connection: Connection, source: int) -> list[LineRow]:
    """Return the lines of a source, in order."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM digest_line WHERE source = ? ORDER BY n", (source,))
    return [LineRow(*row) for row in rows]


def count(connection: Connection) -> int:
    """Return the number of stored lines."""
    return int(next(connection.execute("SELECT count(*) FROM digest_line"))[0])


def sessions_of(connection: Connection, rows: Iterable[int]) -> list[int]:
    """Return the sources of these items that are sessions."""
    source_rows = connection.execute(
        "SELECT DISTINCT s.id FROM item i JOIN source s ON s.id = i.source"
        " WHERE i.id IN (SELECT value FROM json_each(?)) AND s.session_id <> '' ORDER BY 1",
        (json.dumps(list(rows)),),
    )
    return [int(row) for (row,) in source_rows]


def sessions_of_acts(connection: Connection, rows: Iterable[int]) -> list[int]:
    """Return the sources of the sessions that these acts affect."""
    source_rows = connection.execute(
        "SELECT DISTINCT s.id FROM act_span a JOIN item i ON i.uid = a.item_uid JOIN source s ON s.id = i.source"
        " WHERE a.act IN (SELECT value FROM json_each(?)) AND s.session_id <> '' ORDER BY 1",
        (json.dumps(list(rows)),),
    )
    return [int(row) for (row,) in source_rows]


def sessions_of_drawers(connection: Connection, rows: Iterable[int]) -> list[int]:
    """Return the sources of these drawers that are sessions."""
    source_rows = connection.execute(
        "SELECT DISTINCT s.id FROM drawer d JOIN source s ON s.id = d.source"
        " WHERE d.id IN (SELECT value FROM json_each(?)) AND s.session_id <> '' ORDER BY 1",
        (json.dumps(list(rows)),),
    )
    return [int(row) for (row,) in source_rows]


def all_sessions(connection: Connection) -> list[int]:
    """Return the sources that are sessions, and those that have lines."""
    source_rows = connection.execute(
        "SELECT id FROM source WHERE session_id <> '' UNION SELECT source FROM digest_line ORDER BY 1"
    )
    return [int(row) for (row,) in source_rows]


def drawer_with(connection: Connection, quote: Quote) -> str | None:
    """Return the id of a live drawer that shows the quoted range."""
    rows = connection.execute(
        "SELECT d.uid FROM item JOIN drawer_span s ON s.item = item.id JOIN drawer d ON d.id = s.drawer"
        " WHERE item.uid = ? AND d.retired_at IS NULL AND s.start < ? AND s.end > ? ORDER BY d.id LIMIT 1",
        (bytes.fromhex(quote.item), quote.end, quote.start),
    )
    for (uid,) in rows:
        return bytes(uid).hex()
    return None
