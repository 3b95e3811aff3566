"""Tool calls of sessions and their results, as archived, read directly from the items."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from palazzo.model import Micros, Part
from palazzo.store import digest_rows
from palazzo.store.database import Connection
from palazzo.store.items import load_parts, read_texts

_SHOWN = "(d.trust IN (SELECT value FROM json_each(?4)) OR i.trust IN (SELECT value FROM json_each(?4)))"
"""A call counts as its agent's text, whatever it returned; see `failure_fixes`."""

_AT_ONCE = 500
"""Messages whose texts are read at once."""


class CallMessage(NamedTuple):
    """A message with tool calls: its item (row id and id), its session's source, its host, wing and time."""

    item: int
    uid: str
    source: int
    session: str
    host: str
    wing: str
    at: Micros
    text: str
    parts: tuple[Part, ...]


def messages_with_calls(
    connection: Connection, wings: Collection[str], since: Micros | None, until: Micros | None
) -> Iterator[CallMessage]:
    """Yield the messages of sessions of these wings that call tools, newest first."""
    rows = connection.execute(
        "SELECT i.id, hex(i.uid), i.source, s.session_id, s.kind, w.name, i.created_at, i.parts"
        " FROM item i JOIN source s ON s.id = i.source JOIN room r ON r.id = i.room JOIN wing w ON w.id = r.wing"
        " WHERE i.kind = 'message' AND i.standing = 'said' AND i.role = 'assistant' AND s.session_id <> ''"
        " AND instr(i.parts, '\"tool_call\"') AND w.name IN (SELECT value FROM json_each(?1))"
        " AND i.created_at >= coalesce(?2, i.created_at) AND (?3 IS NULL OR i.created_at < ?3)"
        " ORDER BY i.created_at DESC, i.id DESC",
        (json.dumps(list(wings)), since, until),
    )
    for batch in _batches(rows):  # texts are read apart, so that they are not sorted
        texts = read_texts(connection, (row[0] for row in batch))
        for row, uid, source, session, host, wing, at, parts in batch:
            yield CallMessage(row, uid.lower(), source, session, host, wing, Micros(at), texts[row], load_parts(parts))


def _batches(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, _AT_ONCE)):
        yield batch


def is_call_shown(connection: Connection, item: int, start: int, end: int, trusts: Collection[str]) -> bool:
    """Return whether a live drawer of these trust levels shows a call: it was not forgotten, and may be shown."""
    visible = digest_rows.make_visibility_sql("i.id", "?2", "?3", _SHOWN)
    rows = connection.execute(
        f"SELECT 1 FROM item i WHERE i.id = ?1 AND {visible}", (item, start, end, json.dumps(list(trusts)))
    )
    return next(iter(rows), None) is not None


class CallResult(NamedTuple):
    """A result of a call: the text of its message, and the part that holds it."""

    text: str
    part: Part


def results_of(connection: Connection, source: int, calls: Collection[str]) -> dict[str, CallResult]:
    """Return the results of these calls (their ids) in a session's source; for repeated ids, the last."""
    places: dict[str, tuple[int, Part]] = {}
    rows = connection.execute(
        "SELECT id, parts FROM item WHERE source = ? AND kind = 'message' AND instr(parts, '\"tool_result\"')"
        " ORDER BY thread, ordinal, id",
        (source,),
    )
    for row, parts in rows:
        places.update(
            {
                part.call: (int(row), part)
                for part in load_parts(parts)
                if part.kind == "tool_result" and part.call in calls
            }
        )
    texts = read_texts(connection, {row for row, _ in places.values()})
    return {call: CallResult(texts[row], part) for call, (row, part) in places.items()}
