"""What was erased since a copy of the palace was made is erased in the copy, before anybody reads it.

The words are gone, so they are known by what the palace has in their place: where an item of the copy says something
and the palace's says █, that goes; and what the tombstones know goes wherever it stands.
"""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from palazzo.archive import erasing
from palazzo.archive.erasing import Progress, Wanted
from palazzo.store import items, redaction, scrubbing, tombstones
from palazzo.store.database import Connection, Database
from palazzo.store.tombstones import Erasure
from palazzo.text.hashed import COVER, Range

ACTOR = "restore"


class Carried(NamedTuple):
    """How many erasures a copy had not seen, and whether it held anything of what they took."""

    erasures: int
    held: bool


def carry_over(palace: Database, copy: Database, progress: Progress = lambda what, done, total: None) -> Carried:
    """Erase in the copy what the palace has erased since.

    Pages of the copy may hold the words until `Palace.finish_erasing`. In a copy of another palace, under another key,
    the tombstones know nothing: there only what the same items have lost goes.
    """
    with palace.snapshot() as newer:
        with copy.snapshot() as older:
            known = {one.uid for one in tombstones.erasures(older)}
        missing = [one for one in tombstones.erasures(newer) if one.uid not in known]
        held = [_erase(newer, copy, one, progress) for one in missing]
    return Carried(len(missing), any(held))


def _erase(newer: Connection, copy: Database, erasure: Erasure, progress: Progress) -> bool:
    with copy.snapshot() as older:
        is_same = redaction.fingerprint_key(older) == redaction.fingerprint_key(newer)
        words = tuple(tombstones.of_erasure(newer, erasure.row)) if is_same else ()
        wanted = Wanted(spans=_covered_since(newer, older, erasure), known=words)
        found = erasing.survey(older, wanted, progress)
    with scrubbing.overwriting(copy), copy.transaction() as connection:
        row = tombstones.file_erasure(connection, erasure.uid, erasure.at)
        tombstones.insert(connection, row, words)
        erasing.erase(connection, row, wanted, found, ACTOR)
        tombstones.certify(connection, row, erasure.certificate)
    return bool(found.items or found.names or found.packs)


def _covered_since(newer: Connection, older: Connection, erasure: Erasure) -> dict[int, tuple[Range, ...]]:
    """The stretches of the copy's items, by row id, where the palace's have █ by now."""
    uids = tombstones.items_of_erasure(newer, erasure.row)
    here, there = items.known_items(newer, uids), items.known_items(older, uids)
    spans: dict[int, tuple[Range, ...]] = {}
    for uid in here.keys() & there.keys():
        now = items.read_texts(newer, [here[uid]])[here[uid]]
        then = items.read_texts(older, [there[uid]])[there[uid]]
        if len(now) == len(then) and (ranges := tuple(_gone(now, then))):
            spans[there[uid]] = ranges
    return spans


def _gone(now: str, then: str) -> list[Range]:
    """Where `now` has █ and `then` has not."""
    found: list[Range] = []
    at = 0
    for is_gone, letters in groupby(zip(now, then, strict=True), lambda pair: pair[0] == COVER and pair[1] != COVER):
        size = sum(1 for _ in letters)
        if is_gone:
            found.append((at, at + size))
        at += size
    return found
