"""Replay of erasures: everything erased since a copy of the palace was made is erased in the copy before it is read.

The erased words are gone, so two things identify them. Where an item of the copy has text and the palace has █ instead,
that text is erased. Words that the tombstones recognise are erased wherever they occur.
"""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from palazzo.archive import erasure as erasing
from palazzo.archive.erasure import Progress
from palazzo.archive.erasure_request import ErasureRequest
from palazzo.store import file_scrub, items, redaction_state, tombstones
from palazzo.store.database import Connection, Database
from palazzo.store.tombstones import Erasure
from palazzo.text.hashed_words import COVER, Range

ACTOR = "restore"


class CarryOverResult(NamedTuple):
    """Number of erasures that a copy had not applied, and whether it contained any of the erased content."""

    erasures: int
    is_affected: bool


def carry_over(
    palace: Database, copy: Database, progress: Progress = lambda what, done, total: None
) -> CarryOverResult:
    """Erase in the copy what the palace has erased since.

    Pages of the copy may hold the words until `Palace.finish_erasing`. In a copy of another palace, which has another
    key, the tombstones match nothing: there only the text that the same items have lost is erased.
    """
    with palace.snapshot() as newer:
        with copy.snapshot() as older:
            older_uids = {erasure.uid for erasure in tombstones.erasures(older)}
        missing = [erasure for erasure in tombstones.erasures(newer) if erasure.uid not in older_uids]
        removals = [_erase(newer, copy, erasure, progress) for erasure in missing]
    return CarryOverResult(len(missing), any(removals))


def _erase(newer: Connection, copy: Database, erasure: Erasure, progress: Progress) -> bool:
    with copy.snapshot() as older:
        is_same = redaction_state.fingerprint_key(older) == redaction_state.fingerprint_key(newer)
        words = tuple(tombstones.of_erasure(newer, erasure.row)) if is_same else ()
        request = ErasureRequest(spans=_covered_since(newer, older, erasure), foreign_hashes=words)
        survey_result = erasing.survey(older, request, progress)
    with file_scrub.enable_secure_delete(copy), copy.transaction() as connection:
        row = tombstones.file_erasure(connection, erasure.uid, erasure.at)
        tombstones.insert(connection, row, words)
        erasing.erase(connection, row, request, survey_result, ACTOR)
        tombstones.certify(connection, row, erasure.certificate)
    return bool(survey_result.items or survey_result.names or survey_result.packs)


def _covered_since(newer: Connection, older: Connection, erasure: Erasure) -> dict[int, tuple[Range, ...]]:
    """Return the ranges of the copy's items, by row id, where the palace's items now have █."""
    uids = tombstones.items_of_erasure(newer, erasure.row)
    newer_rows, older_rows = items.known_items(newer, uids), items.known_items(older, uids)
    spans: dict[int, tuple[Range, ...]] = {}
    for uid in newer_rows.keys() & older_rows.keys():
        newer_text = items.read_texts(newer, [newer_rows[uid]])[newer_rows[uid]]
        older_text = items.read_texts(older, [older_rows[uid]])[older_rows[uid]]
        if len(newer_text) == len(older_text) and (ranges := tuple(_find_covered_ranges(newer_text, older_text))):
            spans[older_rows[uid]] = ranges
    return spans


def _find_covered_ranges(newer_text: str, older_text: str) -> list[Range]:
    """Yield the ranges where `now` has █ and `then` has not."""
    ranges: list[Range] = []
    at = 0
    for is_gone, letters in groupby(
        zip(newer_text, older_text, strict=True), lambda pair: pair[0] == COVER and pair[1] != COVER
    ):
        size = sum(1 for _ in letters)
        if is_gone:
            ranges.append((at, at + size))
        at += size
    return ranges
