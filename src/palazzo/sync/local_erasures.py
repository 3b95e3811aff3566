"""Erasing on this device: one transaction that removes the words, then a rewrite of the file that held them."""

from __future__ import annotations

from collections.abc import Callable

from palazzo.archive import certificates, erasure, identity
from palazzo.archive.erasure import SurveyResult
from palazzo.archive.erasure_request import ErasureRequest
from palazzo.model import Certificate, Micros
from palazzo.store import file_scrub, tombstones
from palazzo.store.database import Database
from palazzo.sync import remote_erasures


def erase(
    database: Database, clock: Callable[[], Micros], request: ErasureRequest, survey_result: SurveyResult, actor: str
) -> Certificate:
    """Erase what a survey found, and what was added since; return the certificate. It cannot be undone."""
    with file_scrub.enable_secure_delete(database), database.transaction() as connection:
        now = clock()
        uid = bytes.fromhex(identity.new_id(now))
        row = tombstones.file_erasure(connection, uid, now)
        erasure_result = erasure.erase(connection, row, request, survey_result, actor)
        proof = certificates.certificate(connection, uid, now, erasure_result, survey_result, request.remaining_count)
        tombstones.certify(connection, row, certificates.dump(proof))
    return proof


def finish(database: Database, clock: Callable[[], Micros], patience: float) -> list[Certificate]:
    """Rewrite the file if an erase has left traces in it; return the certificates of those erases.

    Raises PalaceUnusable if another program reads an older state for longer than `patience` seconds.
    """
    remote_erasures.seek(database, clock)
    with database.snapshot() as connection:
        unfinished_erasures = tombstones.find_pending_erasures(connection)
    if not unfinished_erasures:
        return []
    file_scrub.scrub(database, patience)
    with database.transaction() as connection:
        tombstones.finish(connection, clock(), (pending.row for pending in unfinished_erasures))
    return [certificates.load(pending.certificate) for pending in unfinished_erasures if pending.certificate]
