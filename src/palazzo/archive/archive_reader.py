"""Archive reader: resolves ids to drawers, items and sessions, and returns their exact text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from palazzo.archive.session_titles import with_shown_titles
from palazzo.errors import AmbiguousId, NotFound
from palazzo.model import Drawer, DrawerId, Item, Micros, Place, Span
from palazzo.store import drawers, fact_rows, items, palace_overview, source_rows, tag_rows
from palazzo.store.database import Connection

SPAN_SEPARATOR = "\n\n"
"""Separator of a drawer's spans when its text is shown as one string."""
_SHORTEST_PREFIX = 4
_SHORT = (8, 10, 12, 16, 20)
"""Lengths to which displayed ids are cut. The first length that identifies only one thing is used."""
_LASTING = 12
"""The digits of an id that is read much later, such as by an agent in another session."""
_SESSIONS = 50
"""Maximum number of sessions checked for an id prefix: the sessions of sub-agents share the prefix of their main
session.
"""
_UUID_GROUP = 8
"""The digits of a UUID before its first hyphen."""
_ID = re.compile(r"[0-9a-f]{32}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def join_spans(texts: Sequence[str]) -> str:
    """Return a drawer's text from the texts of its spans."""
    return SPAN_SEPARATOR.join(texts)


def read_drawer(connection: Connection, row: int) -> Drawer:
    """Return the drawer of that row id, with its exact text."""
    return read_drawers(connection, [row])[row]


def read_drawers(connection: Connection, rows: Sequence[int]) -> dict[int, Drawer]:
    """Return the drawers of those row ids, live or retired, with their exact text; unknown ids are left out."""
    descriptions = drawers.describe(connection, rows)
    spans = drawers.spans_of(connection, rows)
    tags_by_row = tag_rows.tags_of_each(connection, rows)
    item_rows = {item for own in spans.values() for item, _, _ in own}
    texts, ids = items.read_texts(connection, item_rows), items.item_ids(connection, item_rows)
    origins = with_shown_titles(
        connection, source_rows.read_sources(connection, {description.source for description in descriptions})
    )
    return {
        drawer_row.row: Drawer(
            id=DrawerId(drawer_row.uid.hex()),
            kind=drawer_row.kind,
            spans=tuple(Span(ids[item], start, end) for item, start, end in spans.get(drawer_row.row, ())),
            text=join_spans([texts[item][start:end] for item, start, end in spans.get(drawer_row.row, ())]),
            place=Place(drawer_row.wing, drawer_row.room),
            role=drawer_row.role,
            author=drawer_row.author,
            title=drawer_row.title,
            created_at=Micros(drawer_row.created_at),
            recorded_at=Micros(drawer_row.recorded_at),
            retired_at=None if drawer_row.retired_at is None else Micros(drawer_row.retired_at),
            trust=drawer_row.trust,
            branch=drawer_row.branch,
            commit=drawer_row.commit,
            locator=drawer_row.locator,
            source=origins[drawer_row.source],
            tags=tags_by_row.get(drawer_row.row, ()),
        )
        for drawer_row in descriptions
    }


def resolve_drawer(connection: Connection, prefix: str) -> int:
    """Return the row id of the drawer that `prefix` identifies; raise NotFound or AmbiguousId otherwise."""
    candidates = drawers.find_drawers(connection, *id_bounds(prefix), 9)
    if len(candidates) > 1:
        raise AmbiguousId(prefix, [uid.hex() for _, uid in candidates])
    if not candidates:
        raise NotFound(f"No drawer has the id '{prefix}'. 'palazzo search' prints ids.")
    return candidates[0][0]


def resolve(connection: Connection, prefix: str) -> tuple[str, int]:
    """Return ('drawer' | 'item', row id) for `prefix`; raise NotFound or AmbiguousId otherwise."""
    low, high = id_bounds(prefix)
    candidates = [("drawer", row, uid) for row, uid in drawers.find_drawers(connection, low, high, 9)]
    for uid in items.resolve_item_prefix(connection, low, high, 9):
        candidates.append(("item", items.known_items(connection, [uid])[uid], uid))
    if len(candidates) > 1:
        raise AmbiguousId(prefix, [f"{uid.hex()} ({kind})" for kind, _, uid in candidates])
    if not candidates and fact_rows.facts_between(connection, low, high, 1):
        raise NotFound(
            f"'{prefix}' is the id of a fact, not of a drawer or item. 'palazzo kg end' ends a fact, and 'palazzo "
            "erase --match' erases words from it."
        )
    if not candidates:
        raise NotFound(f"Nothing has the id '{prefix}'. 'palazzo search' prints ids; give a full id or its beginning.")
    return candidates[0][0], candidates[0][1]


def drawers_of_item(connection: Connection, row: int) -> list[str]:
    """Return the ids of the live drawers that hold a part of an item, in order."""
    rows = connection.execute(
        "SELECT DISTINCT d.uid, d.ordinal, d.id FROM drawer_span s JOIN drawer d ON d.id = s.drawer"
        " WHERE s.item = ? AND d.retired_at IS NULL ORDER BY d.ordinal, d.id",
        (row,),
    )
    return [bytes(uid).hex() for uid, _, _ in rows]


def read_session(connection: Connection, session_id: str) -> Iterator[Item]:
    """Yield the messages of a session, in order."""
    for source in source_rows.sources_of_session(connection, session_id):
        rows = connection.execute(
            "SELECT id FROM item WHERE source = ? AND kind = 'message' ORDER BY ordinal, id", (source,)
        )
        for (row,) in list(rows):
            yield items.read_item(connection, int(row))


def neighbours(connection: Connection, row: int, count: int) -> tuple[list[int], list[int]]:
    """Return the row ids of up to `count` live drawers before and after one, in its own thread, without reasoning."""
    source, thread, ordinal = next(
        connection.execute("SELECT source, thread, ordinal FROM drawer WHERE id = ?", (row,))
    )
    base = (
        "SELECT id FROM drawer WHERE source = ? AND thread = ? AND retired_at IS NULL AND kind <> 'reasoning'"
        " AND (ordinal, id) "
    )
    previous_rows = connection.execute(
        f"{base} < (?, ?) ORDER BY ordinal DESC, id DESC LIMIT ?", (source, thread, ordinal, row, count)
    )
    next_rows = connection.execute(
        f"{base} > (?, ?) ORDER BY ordinal, id LIMIT ?", (source, thread, ordinal, row, count)
    )
    return [int(r) for (r,) in previous_rows][::-1], [int(r) for (r,) in next_rows]


def short_id(connection: Connection, uid: str, digits: int = _LASTING) -> str:
    """Return the shortest unique beginning of an id, at least `digits` of it; return other names unchanged.

    Twelve digits are 48 bits: of a hash this is enough for any palace; of a UUIDv7 it is the millisecond, so that no
    later id has the same beginning. A session's id is cut after the same number of digits if it is a UUID.
    """
    if _UUID.fullmatch(uid):
        return short_session(connection, uid, digits)
    if not _ID.fullmatch(uid):
        return uid
    sizes = (size for size in _SHORT if size >= digits)
    return next((uid[:size] for size in sizes if _count_matches(connection, uid[:size]) <= 1), uid)


def short_session(connection: Connection, session_id: str, digits: int = _SHORT[0]) -> str:
    """Return a session's id cut to its first `digits` if these identify it; a sub-agent keeps its own part."""
    session, slash, agent = session_id.partition("/")
    if not _UUID.fullmatch(session):
        return session_id
    beginning = session[: digits if digits <= _UUID_GROUP else digits + 1]
    sessions = palace_overview.session_ids(connection, beginning, _SESSIONS)
    is_unique = {found_id.partition("/")[0] for found_id in sessions} <= {session}
    return f"{beginning if is_unique else session}{slash}{agent}"


def _count_matches(connection: Connection, prefix: str) -> int:
    """Return how many drawers, items, facts and sessions have an id with this beginning; counting stops after two."""
    low, high = id_bounds(prefix)
    return (
        len(palace_overview.session_ids(connection, prefix, 2))
        + len(drawers.find_drawers(connection, low, high, 2))
        + len(items.resolve_item_prefix(connection, low, high, 2))
        + len(fact_rows.facts_between(connection, low, high, 2))
    )


def id_bounds(prefix: str) -> tuple[bytes, bytes]:
    """Return the least and the greatest id that begins with `prefix`; raise NotFound if no id can."""
    digits = prefix.lower().replace("-", "")
    if len(digits) < _SHORTEST_PREFIX or len(digits) > 32 or any(c not in "0123456789abcdef" for c in digits):
        raise NotFound(
            f"'{prefix}' is not an id: an id has 32 hexadecimal digits; give at least the first {_SHORTEST_PREFIX}."
        )
    return bytes.fromhex(digits.ljust(32, "0")), bytes.fromhex(digits.ljust(32, "f"))
