"""The beginning of a palace's file: whether anything can be salvaged from the file at all."""

from __future__ import annotations

import contextlib
from pathlib import Path

import apsw

from palazzo.errors import NotAPalace
from palazzo.store import page_checksums, palace_opening, raw_database
from palazzo.store.database import explain_errors


def check_beginning(palace: Path) -> None:
    """Raise NotAPalace if SQLite cannot start reading the file, or if it is another program's: nothing can be salvaged.

    A palace whose mark is damaged has the palace's tables nevertheless.
    """
    if page_checksums.install():
        plain = raw_database.plain_system()
    with explain_errors(palace):
        connection = apsw.Connection(str(palace), flags=apsw.SQLITE_OPEN_READONLY, vfs=plain)
        with contextlib.closing(connection):
            connection.set_busy_handler(palace_opening.Patience())
            with contextlib.suppress(apsw.CorruptError, apsw.IOError):  # those are what a salvage is for
                ((application,),) = connection.execute("PRAGMA application_id").fetchall()
                ((tables,),) = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'item'").fetchall()
                if application != palace_opening.APPLICATION_ID and not tables:
                    raise NotAPalace(f"{palace} is a SQLite file of another program, so it was left unchanged.")
