"""Specimen palace: a palace of a few harmless texts. If a consumer fails there too, the fault is not a text's."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from palazzo.archive.ingest_guard import Guard
from palazzo.archive.specimen_texts import file_specimen
from palazzo.derived.cutter import Cutter
from palazzo.index.consumer import follow
from palazzo.store import schema
from palazzo.store.database import Database


@contextlib.contextmanager
def specimen() -> Iterator[Database]:
    """Open a new palace that holds harmless words, cut into drawers."""
    with (
        tempfile.TemporaryDirectory(prefix="palazzo-") as directory,
        contextlib.closing(Database(Path(directory) / "copy.db")) as database,
    ):
        schema.migrate(database)
        cutter = Cutter()
        with database.transaction() as connection:
            file_specimen(connection, Guard.of(database))
            follow(connection, cutter)
        yield database
