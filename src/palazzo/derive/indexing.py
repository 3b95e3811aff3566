"""What of a drawer is put into the keyword index."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from palazzo.archive.reading import join_spans
from palazzo.store import drawers, items, keywords, places, tags
from palazzo.store.database import Connection
from palazzo.store.drawers import DrawerRow
from palazzo.text.words import index_form


def reindex(connection: Connection, row: int) -> None:
    """Put a live drawer into the keyword index as its row and its spans say."""
    found = connection.execute(
        "SELECT room, wing, kind, title, author, created_at, room.name FROM drawer JOIN room ON room.id = drawer.room"
        " WHERE drawer.id = ?",
        (row,),
    )
    for room, wing, kind, title, author, created, name in found:
        context = _context(title, author, created, name)
        scope = keywords.scope_tokens(wing, room, kind, tags.tag_ids_of(connection, row))
        keywords.index(connection, [(row, index_form(_text(connection, row)), context, scope)])


def index_new(connection: Connection, new: Iterable[tuple[int, DrawerRow, str]]) -> None:
    """Put drawers that were just added into the keyword index: (row id, drawer, its text)."""
    rooms: dict[int, tuple[int, str]] = {}
    ids: dict[str, int] = {}
    rows = []
    for own, drawer, text in new:
        ids.update(tags.known_tags(connection, (name for name in drawer.tags if name not in ids)))
        if drawer.room not in rooms:
            rooms[drawer.room] = places.wing_and_name(connection, drawer.room)
        wing, name = rooms[drawer.room]
        context = _context(drawer.title, drawer.author, drawer.created_at, name)
        scope = keywords.scope_tokens(wing, drawer.room, drawer.kind, (ids[name] for name in drawer.tags))
        rows.append((own, index_form(text), context, scope))
    keywords.index(connection, rows)


def _context(title: str, author: str, created_at: int, room: str) -> str:
    return index_form(f"{title} {author} {_spoken_date(created_at)} {room}")


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
