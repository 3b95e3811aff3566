"""Remote erasures: what another device erased is erased here too, by searching for the hashes of its words everywhere.

The records say which items lost their bytes, and merging applies that to those of them that are here. But this palace
may hold the same words in texts that the other device never had. So each received erasure gets a survey here, as a
local one does (`erasure.sought`); an interrupted survey is repeated.
"""

from __future__ import annotations

from collections.abc import Callable

from palazzo.archive import erasure as erasing
from palazzo.archive.erasure import Progress
from palazzo.archive.erasure_request import ErasureRequest
from palazzo.model import Micros
from palazzo.store import file_scrub, tombstones
from palazzo.store.database import Database


def seek(database: Database, clock: Callable[[], Micros], progress: Progress = lambda what, done, total: None) -> int:
    """Erase here what other devices have erased since the last time; return the number of erasures processed.

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
