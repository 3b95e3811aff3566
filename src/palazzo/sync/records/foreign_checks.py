"""Foreign checks: whether rows come from another person's export, for the rules of what such an export may add."""

from __future__ import annotations

from palazzo.store import foreign_rows
from palazzo.store.database import Value
from palazzo.sync.merge_state import Work

_SUFFIX = " (imported)"


def mark_name(name: str) -> str:
    """Return a name that is not in use here: `user` would be the user of this palace."""
    return name if name.endswith(_SUFFIX) else f"{name}{_SUFFIX}"


def has_row(work: Work, query: str, *values: Value) -> bool:
    """Return whether a query yields anything."""
    return any(True for _ in work.connection.execute(query, values))


def is_foreign(work: Work, table: str, uid: str) -> bool:
    """Return whether another person's export added the row with that id; raises Missing if there is none."""
    return foreign_rows.is_marked(work.connection, table, work.need(table, uid))


def is_foreign_source(work: Work, row: int) -> bool:
    """Return whether a source, and all of its items, came from another person's export."""
    return foreign_rows.is_wholly_marked(work.connection, "source", row, "item", "source")
