"""Everything that a palace holds at one moment, as plain texts: for a comparison with what was acknowledged."""

from __future__ import annotations

from palazzo.frozen_class import frozen
from palazzo.store.database import Connection
from palazzo.store.items import decode_text


@frozen
class StoredText:
    """An item's text, and whether a live drawer shows a part of it."""

    text: str
    is_live: bool


def read_texts(connection: Connection) -> list[StoredText]:
    """Return the text of every item, in the order in which they were archived."""
    rows = connection.execute(
        "SELECT i.text, i.text_codec, EXISTS(SELECT 1 FROM drawer_span s JOIN drawer d ON d.id = s.drawer"
        " WHERE s.item = i.id AND d.retired_at IS NULL) FROM item i ORDER BY i.id"
    )
    return [StoredText(decode_text(blob, codec), bool(is_live)) for blob, codec, is_live in rows]


def read_subjects(connection: Connection) -> list[str]:
    """Return the subject of every fact that is believed now, once for each fact."""
    rows = connection.execute(
        "SELECT e.name FROM fact_version v JOIN fact f ON f.id = v.fact JOIN entity e ON e.id = f.subject"
        " WHERE v.retired_at IS NULL ORDER BY v.id"
    )
    return [str(name) for (name,) in rows]
