"""What another device erased goes here, too: its words are looked for by their hashes, wherever they stand.

The records say which items lost their bytes, and merging takes those of them that are here. But this palace may hold
the same words in texts that the other device never had. So each erasure that came is surveyed here as one of our own
is (`erasure.sought`); one that was interrupted is surveyed again.
"""

from __future__ import annotations

from collections.abc import Callable

from palazzo.archive import erasure as erasing
from palazzo.archive.erasure import ErasureRequest, Progress
from palazzo.model import Micros
from palazzo.store import file_scrub, tombstones
from palazzo.store.database import Database


def seek(database: Database, clock: Callable[[], Micros], progress: Progress = lambda what, done, total: None) -> int:
    """Erase here what other devices have erased since the last time; return how many erasures were looked for.

    Pages of the file may hold the words until `Palace.finish_erasing`.
    """
    with database.snapshot() as connection:
        erasures = tombstones.unsought(connection)
    for erasure in erasures:
        _seek(database, erasure, clock, progress)
    return len(erasures)


def _seek(database: Database, erasure: tombstones.Erasure, clock: Callable[[], Micros], progress: Progress) -> None:
    with database.snapshot() as connection:
        request = ErasureRequest(foreign_hashes=tuple(tombstones.of_erasure(connection, erasure.row)))
        survey_result = erasing.survey(connection, request, progress)
    with file_scrub.enable_secure_delete(database), database.transaction() as connection:
        erasing.erase(connection, erasure.row, request, survey_result, actor=None)
        tombstones.note_sought(connection, erasure.row)
