"""What of a drawer is put into the keyword index."""

from __future__ import annotations

from collections.abc import Iterable

from palazzo.store import keywords, places, tags
from palazzo.store.database import Connection
from palazzo.store.drawers import DrawerRow
from palazzo.text.words import index_form


def reindex(connection: Connection, row: int) -> None:
    """Put a live drawer into the keyword index as its row and its spans say."""
    body, context = keywords.columns_of(connection, row)
    keywords.index(connection, [(row, body, context, keywords.scope_of(connection, row))])


def index_new(connection: Connection, new: Iterable[tuple[int, DrawerRow, str]]) -> None:
    """Put drawers that were just added into the keyword index: (row id, drawer, its text)."""
    rooms: dict[int, tuple[int, str]] = {}
    ids: dict[str, int] = {}
    rows = []
    for own, drawer, text in new:
        ids.update(tags.known_tags(connection, (name for name in drawer.tags if name not in ids)))
        if drawer.room not in rooms:
            rooms[drawer.room] = places.first_place(connection, drawer.room)
        wing, name = rooms[drawer.room]
        context = keywords.context(drawer.title, drawer.author, drawer.created_at, name)
        scope = keywords.scope_tokens(wing, drawer.room, drawer.kind, (ids[name] for name in drawer.tags))
        rows.append((own, index_form(text), context, scope))
    keywords.index(connection, rows)
