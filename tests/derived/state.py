"""What is derived, written out so that two palaces or two moments can be compared; row ids are left out."""

from __future__ import annotations

from typing import Any

from palazzo.archive import archive_reader, device_chain
from palazzo.model import Drawer
from palazzo.palace import Palace
from palazzo.store import keyword_table
from palazzo.store.database import Connection

DERIVED = (
    "drawer",
    "drawer_span",
    "drawer_tag",
    "passage",
    "pending",
    "vector",
    "past",
    "outside",
    "cursor",
    "source_heading",
)
"""Tables that can be emptied without losing a word."""


def drawers(palace: Palace, live: bool = True) -> list[Drawer]:
    """Every live (or retired) drawer as a reader sees it, in the order of its source."""
    condition = "IS NULL" if live else "IS NOT NULL"
    with palace.database.snapshot() as connection:
        rows = connection.execute(
            f"SELECT id FROM drawer WHERE retired_at {condition} ORDER BY source, thread, ordinal, id"
        )
        return [archive_reader.read_drawer(connection, row) for (row,) in list(rows)]


def live_ids(palace: Palace) -> set[str]:
    """Ids of the drawers that search may return."""
    return {drawer.id for drawer in drawers(palace)}


def derived(palace: Palace) -> dict[str, Any]:
    """All that is derived and does not depend on the order of writing."""
    with palace.database.snapshot() as connection:
        columns = (
            "uid, kind, thread, ordinal, turn, room, role, author, title, created_at, recorded_at, retired_at IS NULL,"
            " trust, branch, commit_id, locator"
        )
        found = {bytes(row[0]).hex(): row[1:] for row in connection.execute(f"SELECT {columns} FROM drawer")}
        return {
            "drawers": {uid: row for uid, row in found.items() if row[10]},
            "passages": _of_live(connection, "SELECT d.uid, p.item, p.start, p.end, p.hash FROM passage p"),
            "tags": _of_live(connection, "SELECT d.uid, p.tag FROM drawer_tag p"),
            "spans": _of_live(connection, "SELECT d.uid, p.n, p.item, p.start, p.end FROM drawer_span p"),
            "outside": sorted(
                connection.execute("SELECT i.uid, o.start, o.kind FROM outside o JOIN item i ON i.id = o.item")
            ),
        }


def _of_live(connection: Connection, select: str) -> list[tuple[Any, ...]]:
    return sorted(connection.execute(f"{select} JOIN drawer d ON d.id = p.drawer WHERE d.retired_at IS NULL"))


def drop_derived(palace: Palace) -> None:
    """Empty everything that is derived, as if it had been lost."""
    with palace.database.outside_transaction() as connection:
        connection.execute("BEGIN IMMEDIATE")
        for table in DERIVED:
            connection.execute(f"DELETE FROM {table}")
        connection.execute("INSERT INTO keyword(keyword) VALUES('delete-all')")
        connection.execute("INSERT INTO keyword_retired(keyword_retired) VALUES('delete-all')")
        connection.execute("COMMIT")


def complaints(palace: Palace) -> list[str]:
    """Everything that is wrong with a palace; empty when it is sound."""
    found: list[str] = []
    with palace.database.transaction() as connection:
        found += [str(row) for (row,) in connection.execute("PRAGMA integrity_check") if row != "ok"]
        found += [f"foreign key: {row}" for row in connection.execute("PRAGMA foreign_key_check")]
        fts = keyword_table.check(connection)
        found += [f"keyword index: {fts}"] if fts else []
        live = {int(row) for (row,) in connection.execute("SELECT id FROM drawer WHERE retired_at IS NULL")}
        indexed = {int(row) for (row,) in connection.execute("SELECT id FROM keyword_docsize")}
        found += [f"indexed {len(indexed)} of {len(live)} drawers"] if live != indexed else []
        found += [str(one) for one in device_chain.audit(connection)]
        told = "SELECT count(*) FROM link WHERE absent IS NULL OR absent = 'erased'"
        links = next(connection.execute(f"SELECT ({told}), (SELECT count(*) FROM item)"))
        found += [f"{links[0]} links for {links[1]} items"] if links[0] != links[1] else []
        found += _false_drawers(connection)
    return found


def _false_drawers(connection: Connection) -> list[str]:
    """Drawers whose id is not that of their spans, or whose spans lie outside their items."""
    from palazzo.archive.identity import drawer_id

    found = []
    for (row,) in list(connection.execute("SELECT id FROM drawer")):
        drawer = archive_reader.read_drawer(connection, row)
        if not drawer.spans and drawer.retired_at is not None:
            continue  # what a growing conversation once was is told by its spans alone
        if drawer.id != drawer_id(drawer.spans):
            found.append(f"drawer {drawer.id} is not what its id says")
        if len(drawer.text) < sum(span.end - span.start for span in drawer.spans):
            found.append(f"drawer {drawer.id} is longer than its item")
    return found
