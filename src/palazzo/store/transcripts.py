"""A session's transcript as stored in the archive: what was said in it by whom, and the last message.

A session is identified by its file; if a file contains many (a database), by its id.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any, NamedTuple

from palazzo.model import Micros, Part
from palazzo.store.database import Connection
from palazzo.store.items import decode_text, load_parts


def session_source(connection: Connection, uri: str, session: str) -> int | None:
    """Return the row of the source that holds a session; None while nothing of it is archived."""
    rows = connection.execute(
        "SELECT f.source FROM file_state f JOIN source s ON s.id = f.source WHERE f.uri = ?"
        " UNION ALL SELECT id FROM (SELECT id FROM source WHERE session_id = ? AND session_id <> ''"
        " ORDER BY kind = 'hook', id)",
        (uri, session),
    )
    return next((int(row) for (row,) in rows), None)


def last_kept(connection: Connection, source: int) -> Micros | None:
    """Return when the newest item of a source was archived."""
    rows = connection.execute("SELECT recorded_at FROM item WHERE source = ? ORDER BY id DESC LIMIT 1", (source,))
    return next((Micros(at) for (at,) in rows), None)


def from_users(connection: Connection, source: int, last_row: int = 0) -> Iterator[tuple[int, str, tuple[Part, ...]]]:
    """Yield the row, text and parts of each user message in a session, after an item (a row).

    Sub-agents' sessions have none. Tool output and command echoes do not count: feeders have separated them.
    """
    rows = connection.execute(
        "SELECT id, text, text_codec, parts FROM item WHERE source = ? AND id > ? AND kind = 'message'"
        " AND standing = 'said' AND role = 'user' AND trust <> 'agent' ORDER BY id",
        (source, last_row),
    )
    for row, text, codec, parts in rows:
        yield int(row), decode_text(text, codec), load_parts(parts)


def last_texts(connection: Connection, source: int, at_most: int) -> list[str]:
    """Return the texts of the agent's last archived messages in a session, last first."""
    rows = connection.execute(
        "SELECT text, text_codec FROM item WHERE source = ? AND kind = 'message' AND role = 'assistant'"
        " ORDER BY id DESC LIMIT ?",
        (source, at_most),
    )
    return [decode_text(text, codec) for text, codec in rows]


def session_of(connection: Connection, source: int) -> str:
    """Return the id of the session that a source holds; for a sub-agent, that of the session it worked for."""
    rows = connection.execute("SELECT session_id FROM source WHERE id = ?", (source,))
    return next((str(session_id).partition("/")[0] for (session_id,) in rows), "")


def read_copy_times(connection: Connection, source: int) -> frozenset[Micros]:
    """Return the times of the copied rows in a session that was forked from another, or continues it.

    Hosts write copies first. They are variants of the other session's rows, or only repetitions.
    """
    rows = connection.execute(
        "SELECT i.created_at FROM repetition r JOIN item i ON i.id = r.item WHERE r.source = ?1 AND i.source <> ?1",
        (source,),
    )
    copy_times = {Micros(at) for (at,) in rows}
    variants = connection.execute(
        "SELECT kind = 'noise' AND standing = 'meta', created_at FROM item"
        " WHERE source = ? AND role IN ('user', 'assistant', 'tool') ORDER BY id",
        (source,),
    )
    return frozenset(copy_times.union(Micros(at) for _, at in takewhile(lambda row: row[0], variants)))


def has_any_said_at(connection: Connection, source: int, moments: Iterable[Micros]) -> bool:
    """Whether a source has a message with one of these times."""
    rows = connection.execute(
        "SELECT 1 FROM item WHERE source = ? AND kind = 'message' AND created_at IN (SELECT value FROM json_each(?))"
        " LIMIT 1",
        (source, json.dumps([*moments])),
    )
    return any(True for _ in rows)


class TranscriptMessage(NamedTuple):
    """A message of a session: its row, its role, its time, its text and the parts of it."""

    row: int
    role: str
    at: Micros
    text: str
    parts: tuple[Part, ...]


def captured_since(connection: Connection, source: int, item: int, at_most: int) -> list[TranscriptMessage]:
    """Return the messages of a source that were archived after an item (a row), in that order."""
    rows = connection.execute(
        "SELECT id, role, created_at, text, text_codec, parts FROM item WHERE source = ? AND id > ?"
        " AND kind = 'message' AND standing = 'said' ORDER BY id LIMIT ?",
        (source, item, at_most),
    )
    return [_to_message(row) for row in rows]


def first_of_person(connection: Connection, sources: Iterable[int], at_most: int) -> dict[int, list[str]]:
    """Return the texts of the person's first messages in each source, in order, without forgotten ones."""
    texts: dict[int, list[str]] = {}
    rows = connection.execute(
        "SELECT listed.value, said.text, said.text_codec FROM json_each(?1) listed JOIN item said ON said.id IN"
        " (SELECT id FROM item WHERE source = listed.value AND thread = '' AND kind = 'message' AND standing = 'said'"
        " AND role = 'user' AND trust = 'user' AND EXISTS(SELECT 1 FROM drawer_span JOIN drawer"
        " ON drawer.id = drawer_span.drawer WHERE drawer_span.item = item.id AND retired_at IS NULL)"
        " ORDER BY ordinal LIMIT ?2) ORDER BY listed.value, said.ordinal",
        (json.dumps([*sources]), at_most),
    )
    for source, text, codec in rows:
        texts.setdefault(int(source), []).append(decode_text(text, codec))
    return texts


def read_user_messages(connection: Connection, source: int, item: int, at_most: int) -> list[TranscriptMessage]:
    """Return the person's last messages up to an item, last first."""
    rows = connection.execute(
        "SELECT id, role, created_at, text, text_codec, parts FROM item WHERE source = ? AND id <= ?"
        " AND kind = 'message' AND standing = 'said' AND role = 'user' ORDER BY id DESC LIMIT ?",
        (source, item, at_most),
    )
    return [_to_message(row) for row in rows]


def _to_message(row: tuple[Any, ...]) -> TranscriptMessage:
    own, role, at, text, codec, parts = row
    return TranscriptMessage(int(own), role, Micros(at), decode_text(text, codec), load_parts(parts))


def of_session(connection: Connection, session: str, but_kind: str) -> list[int]:
    """Return the sources of a session, except those of one kind."""
    rows = connection.execute(
        "SELECT id FROM source WHERE session_id = ? AND session_id <> '' AND kind <> ?", (session, but_kind)
    )
    return [int(row) for (row,) in rows]


def read_dialogue(connection: Connection, source: int) -> list[tuple[int, str, str]]:
    """Return (item, role, text) of both sides' messages in a session, in order, without forgotten ones."""
    rows = connection.execute(
        "SELECT id, role, text, text_codec FROM item WHERE source = ?1 AND kind = 'message' AND standing = 'said'"
        " AND role IN ('user', 'assistant') AND EXISTS(SELECT 1 FROM drawer_span JOIN drawer ON drawer.id ="
        " drawer_span.drawer WHERE drawer_span.item = item.id AND retired_at IS NULL) ORDER BY ordinal",
        (source,),
    )
    return [(int(row), str(role), decode_text(text, codec)) for row, role, text, codec in rows]


def ending(connection: Connection, source: int, count: int) -> list[tuple[str, str]]:
    """Return (role, text) of both sides' last archived messages, in order."""
    rows = connection.execute(
        "SELECT role, text, text_codec FROM item WHERE source = ? AND kind = 'message' AND standing = 'said'"
        " AND role IN ('user', 'assistant') ORDER BY id DESC LIMIT ?",
        (source, count),
    )
    return [(str(role), decode_text(text, codec)) for role, text, codec in rows][::-1]
