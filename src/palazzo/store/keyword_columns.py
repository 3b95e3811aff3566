"""The columns of a drawer in the keyword index: its words, and its title, date and speakers."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from palazzo.store import drawers, items, source_headings
from palazzo.store.database import Connection
from palazzo.text.word_forms import index_form


def context(title: str, author: str, created_at: int, room: str, heading: str = "") -> str:
    """Return the context column of a drawer; `room` is its room's first name, which never changes.

    `heading` are the words of its source, if it is the drawer that stands for it (`store/source_headings`).
    """
    return index_form(f"{title} {author} {_spoken_date(created_at)} {room} {heading}".rstrip())


def columns_of(connection: Connection, row: int) -> tuple[str, str]:
    """Return the body and context columns of a drawer, from its row and its spans."""
    return body_of(connection, row), context_of(connection, row)


def body_of(connection: Connection, row: int) -> str:
    """Return the body column of a drawer, from its spans."""
    return index_form(words_of(connection, row))


def words_of(connection: Connection, row: int) -> str:
    """Return the words of a drawer, from its spans."""
    spans = drawers.drawer_spans(connection, row)
    texts = items.read_texts(connection, (item for item, _, _ in spans))
    return "\n\n".join(texts[item][start:end] for item, start, end in spans)


def context_of(connection: Connection, row: int, room: int | None = None) -> str:
    """Return the context column of a drawer from its row, or as if it were in another `room`."""
    rows = connection.execute(
        "SELECT title, author, created_at, first_name FROM drawer JOIN room ON room.id = coalesce(?2, drawer.room)"
        " WHERE drawer.id = ?1",
        (row, room),
    )
    title, author, created_at, room_name = next(rows)
    return context(title, author, created_at, room_name, source_headings.heading_words(connection, row))


def _words(connection: Connection, expression: str) -> str:
    """Return a MATCH fragment that searches for the expression in the columns that hold words.

    FTS5 takes a fifth longer if columns are restricted, so they are restricted only if a word could be a token of the
    scope.
    """
    if any(map(is_of_scope, connection.stems(expression))):
        return f"{{body context}} : ({expression})"
    return f"({expression})"


def _spoken_date(micros: int) -> str:
    """Return a date in the forms that people search for; '' for the epoch, which means "not known"."""
    return _spoken_day(micros // _DAY) if micros else ""


_DAY = 86_400_000_000
"""Microseconds."""


@lru_cache(maxsize=1024)
def _spoken_day(day: int) -> str:
    """Return such a date of a day, counted from the epoch. A session has hundreds of drawers and one or two days."""
    moment = datetime.fromtimestamp(day * 86_400, UTC)
    return f"{moment:%Y-%m-%d} {moment.day} {moment:%B} {moment.year} {moment:%A}"


_SCOPE_TOKEN = re.compile(r"[wrt]\d+x|k[a-z]+x")


def is_of_scope(stem: str) -> bool:
    """Whether a stemmed word could be a token of the scope."""
    return _SCOPE_TOKEN.fullmatch(stem) is not None
