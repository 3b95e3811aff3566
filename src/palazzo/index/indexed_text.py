"""Indexed text: the text of a drawer that goes into the keyword index.

If the index form of its words cannot be made, the plain words are indexed, and the drawer is set aside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from palazzo.index.failure_isolation import process_text, set_drawer_aside
from palazzo.store import dead_letters, keyword_columns, keyword_table, place_rows, source_headings, tag_rows
from palazzo.store.database import Connection
from palazzo.store.drawers import DrawerRow
from palazzo.text.word_forms import index_form

CONSUMER = "keyword"
"""The consumer that sets drawers aside if their index form cannot be made."""
_VERSION = 1
Columns = tuple[str, str]
"""The indexed texts of a drawer: its body and its context."""


def reindex(connection: Connection, row: int) -> None:
    """Index a live drawer by keyword, from its row and its spans."""
    dead_letters.clear(connection, CONSUMER, [row])
    columns = process_text(partial(keyword_columns.columns_of, connection, row))
    if isinstance(columns, Exception):
        set_drawer_aside(connection, CONSUMER, row, _VERSION, columns)
        columns = keyword_columns.words_of(connection, row), ""
    keyword_table.index(connection, [(row, *columns, keyword_table.scope_of(connection, row))])


def index_new(connection: Connection, new: Iterable[tuple[int, DrawerRow, str]], heading: int | None = None) -> None:
    """Index newly added drawers by keyword: (row id, drawer, its text). `heading` stands for its source."""
    rooms: dict[int, tuple[int, str]] = {}
    ids: dict[str, int] = {}
    rows = []
    for own, drawer, text in new:
        ids.update(tag_rows.known_tags(connection, (name for name in drawer.tags if name not in ids)))
        if drawer.room not in rooms:
            rooms[drawer.room] = place_rows.first_place(connection, drawer.room)
        wing, name = rooms[drawer.room]
        find_words = partial(source_headings.heading_words, connection, own) if own == heading else str
        columns = process_text(partial(_columns_of_new, drawer, text, name, find_words))
        if isinstance(columns, Exception):
            set_drawer_aside(connection, CONSUMER, own, _VERSION, columns)
            columns = text, ""
        scope = keyword_table.scope_tokens(wing, drawer.room, drawer.kind, (ids[name] for name in drawer.tags))
        rows.append((own, *columns, scope))
    keyword_table.index(connection, rows)


def _columns_of_new(drawer: DrawerRow, text: str, room: str, find_source_words: Callable[[], str]) -> Columns:
    context = keyword_columns.context(drawer.title, drawer.author, drawer.created_at, room, find_source_words())
    return index_form(text), context
