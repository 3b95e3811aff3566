"""What of a drawer is put into the keyword index.

Where the index form of its words cannot be made, the words are indexed as they stand, and the drawer is set aside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from palazzo.derive import failure_isolation
from palazzo.derive.failure_isolation import is_of_text
from palazzo.store import dead_letters, keywords, places, tags
from palazzo.store.database import Connection
from palazzo.store.drawers import DrawerRow
from palazzo.text.words import index_form

CONSUMER = "keyword"
"""By this name the drawers are set aside whose index form cannot be made."""
_VERSION = 1
Columns = tuple[str, str]
"""What is indexed of a drawer: its body and its context."""


def reindex(connection: Connection, row: int) -> None:
    """Put a live drawer into the keyword index as its row and its spans say."""
    dead_letters.clear(connection, CONSUMER, [row])
    columns = _columns(
        connection,
        row,
        lambda: keywords.columns_of(connection, row),
        lambda: keywords.words_of(connection, row),
    )
    keywords.index(connection, [(row, *columns, keywords.scope_of(connection, row))])


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
        columns = _columns(connection, own, lambda: _columns_of_new(drawer, text, name), lambda: text)  # noqa: B023
        scope = keywords.scope_tokens(wing, drawer.room, drawer.kind, (ids[name] for name in drawer.tags))
        rows.append((own, *columns, scope))
    keywords.index(connection, rows)


def _columns_of_new(drawer: DrawerRow, text: str, room: str) -> Columns:
    return index_form(text), keywords.context(drawer.title, drawer.author, drawer.created_at, room)


def _columns(connection: Connection, row: int, make: Callable[[], Columns], words: Callable[[], str]) -> Columns:
    """Return the columns of a drawer; where they cannot be made, its words alone."""
    try:
        return make()
    except Exception as error:
        if not is_of_text(error):
            raise
        label = failure_isolation.drawer_label(connection, row)
        dead = failure_isolation.letter(CONSUMER, row, label, _VERSION, error)
        failure_isolation.set_aside(connection, dead, error)
        return words(), ""
