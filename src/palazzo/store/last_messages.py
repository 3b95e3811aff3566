"""The end of a session, as stored in the archive."""

from __future__ import annotations

from typing import NamedTuple

from palazzo.model import Micros, Part
from palazzo.store.database import Connection
from palazzo.store.items import decode_text, load_parts


class Message(NamedTuple):
    """A message of a session: its item's row, its role, time, text, the parts of the text, and its trust level."""

    item: int
    role: str
    text: str
    parts: tuple[Part, ...]
    trust: str
    at: Micros


def last_messages(connection: Connection, source: int, at_most: int, characters: int) -> list[Message]:
    """Return the last messages of a session's own thread, in order: at most so many, and about so many characters."""
    rows = connection.execute(
        "SELECT id, role, text, text_codec, parts, trust, created_at FROM item WHERE source = ? AND thread = ''"
        " AND kind = 'message' AND standing = 'said' ORDER BY ordinal DESC, id DESC LIMIT ?",
        (source, at_most),
    )
    messages: list[Message] = []
    for item, role, text, codec, parts, trust, at in rows:
        messages.append(Message(int(item), role, decode_text(text, codec), load_parts(parts), trust, Micros(at)))
        characters -= len(messages[-1].text)
        if characters <= 0:
            break
    return messages[::-1]
