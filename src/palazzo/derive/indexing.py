"""What of a drawer is put into the keyword index."""

from __future__ import annotations

from datetime import UTC, datetime

from palazzo.archive.reading import join_spans
from palazzo.store import drawers, items, keywords
from palazzo.store.database import Connection
from palazzo.text.words import index_form


def reindex(connection: Connection, row: int, text: str | None = None) -> None:
    """Put a live drawer into the keyword index; its text is read from the archive unless the caller has it."""
    found = connection.execute(
        "SELECT room, wing, kind, title, author, created_at, room.name FROM drawer JOIN room ON room.id = drawer.room"
        " WHERE drawer.id = ?",
        (row,),
    )
    for room, wing, kind, title, author, created, name in found:
        body = _text(connection, row) if text is None else text
        context = f"{title} {author} {_spoken_date(created)} {name}"
        scope = keywords.scope_tokens(wing, room, kind)
        keywords.index(connection, row, index_form(body), index_form(context), scope)


def _text(connection: Connection, row: int) -> str:
    spans = drawers.drawer_spans(connection, row)
    texts = items.read_texts(connection, (item for item, _, _ in spans))
    return join_spans([texts[item][start:end] for item, start, end in spans])


def _spoken_date(micros: int) -> str:
    """Return a date the ways people ask for it; '' for the epoch, which stands for "not known"."""
    if not micros:
        return ""
    moment = datetime.fromtimestamp(micros / 1e6, UTC)
    return f"{moment:%Y-%m-%d} {moment.day} {moment:%B} {moment.year} {moment:%A}"
