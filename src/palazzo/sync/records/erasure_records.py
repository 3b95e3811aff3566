"""Erasures: the items that lost bytes, and the erased words as hashes.

Other copies of the words in this palace are looked for later (`sync/remote_erasures`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from palazzo.archive import certificates
from palazzo.archive.ingest_guard import Guard
from palazzo.frozen_class import frozen
from palazzo.model import Micros, Trust
from palazzo.store import foreign_rows, items, tombstones
from palazzo.store.database import Connection
from palazzo.sync.field_codecs import BadRecord, Digest, Id, Text, Time, Whole, require
from palazzo.sync.merge_state import Outcome, Work
from palazzo.sync.records.palace_snapshot import PalaceSnapshot, hex_id
from palazzo.sync.records.record_kind import Record, RecordKind, Verdict
from palazzo.text.hashed_words import HashedWords

_STANDINGS = range(3)
_ENDS = 2


@frozen
class Tombstone:
    """Erased words, as hashes under the palace's key."""

    size: Whole
    standing: Whole
    head: Whole
    tail: Whole
    hash: Digest


@frozen
class Erasure(Record):
    """An erasure: the items that lost bytes, and its tombstones, which only palaces with the same key can read."""

    id: Id
    at: Time
    certificate: Text = ""
    items: tuple[Id, ...] = ()
    tombstones: tuple[Tombstone, ...] = ()


# --- validation --------------------------------------------------------------------------------------------


def _check(record: Erasure) -> None:
    _check_certificate(record.certificate)
    for tombstone in record.tombstones:
        is_valid = tombstone.size > 0 and tombstone.standing in _STANDINGS and bool(tombstone.hash)
        require(is_valid, "is not a valid tombstone")


def _check_certificate(text: str) -> None:
    """Validate a certificate of an erasure on another device; '' where an export holds a part of it."""
    if not text:
        return
    try:
        proof = certificates.load(text)
        spans = [span for item in proof.items for span in item.spans]
        numbers = [proof.at, proof.packs, proof.left, proof.chain_seq, *proof.names.values(), *proof.looked.values()]
        numbers += [*proof.unreadable, *(end for span in spans for end in span)]
        words = [proof.palace, proof.erasure, proof.chain_head, *proof.tombstones, *(item.id for item in proof.items)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadRecord("'certificate' is invalid") from None
    require(
        all(type(value) is int for value in numbers)
        and all(type(value) is str for value in words)
        and all(len(span) == _ENDS for span in spans),
        "'certificate' is invalid",
    )


# --- reading -----------------------------------------------------------------------------------------------


def _read(snapshot: PalaceSnapshot) -> Iterator[Erasure]:
    """Yield erasures with their items. An export with part of an erasure names only that part, and no certificate."""
    connection, selection = snapshot.connection, snapshot.selection
    for row, uid, at, certificate in connection.execute("SELECT id, uid, at, certificate FROM erasure ORDER BY uid"):
        rows = connection.execute("SELECT item_uid FROM erased_item WHERE erasure = ? ORDER BY item_uid", (row,))
        erased_ids = [bytes(item) for (item,) in rows]
        words = _tombstones(connection, row) if snapshot.tombstones else ()
        if selection is not None:
            certificate, erased_ids = "", [item for item in erased_ids if item in selection.item_ids]
            if not erased_ids:
                continue
        yield Erasure(hex_id(uid), at, certificate, tuple(map(hex_id, erased_ids)), words)


def _tombstones(connection: Connection, erasure: int) -> tuple[Tombstone, ...]:
    rows = connection.execute(
        "SELECT size, standing, head, tail, hash FROM tombstone WHERE erasure = ? ORDER BY hash, standing", (erasure,)
    )
    return tuple(Tombstone(size, mode, head, tail, bytes(digest)) for size, mode, head, tail, digest in rows)


# --- merging -----------------------------------------------------------------------------------------------


def _merge(work: Work, record: Erasure) -> Outcome:
    """Merge an erasure: its items, and its words, belong to the earliest erasure that removed text from them."""
    row = work.find("erasure", record.id)
    is_new = row is None
    if row is None:
        row = tombstones.file_foreign(work.connection, bytes.fromhex(record.id), Micros(record.at))
        if work.authority == "other":  # it has no tombstones, so there is nothing to look for
            tombstones.note_sought(work.connection, row)
    (certificate,) = next(work.connection.execute("SELECT certificate FROM erasure WHERE id = ?", (row,)))
    least_certificate = min(filter(None, (certificate, record.certificate)), default="")
    if least_certificate != certificate:
        tombstones.certify(work.connection, row, least_certificate)
    item_ids = _foreign_items(work, record) if work.authority == "other" else record.items
    item_count = sum(tombstones.claim_item(work.connection, row, bytes.fromhex(item)) for item in item_ids)
    words = [HashedWords(it.size, it.standing, it.head, it.tail, it.hash) for it in record.tombstones]  # type: ignore[arg-type]
    word_count = sum(tombstones.claim_words(work.connection, row, it) for it in words)
    if word_count:
        work.guard = Guard.at(work.connection, work.guard.redacts)
    return "added" if is_new else "changed" if item_count or word_count or least_certificate != certificate else "same"


def _limit(record: Erasure, trust: Trust) -> Erasure:
    return replace(record, certificate="", tombstones=())


def _foreign_items(work: Work, record: Erasure) -> list[str]:
    """Return the items that another person's export added without their words: its erasures concern no others."""
    rows_by_id = {uid: work.find("item", uid) for uid in record.items}
    return [
        uid
        for uid, row in rows_by_id.items()
        if row is not None
        and foreign_rows.is_marked(work.connection, "item", row)
        and items.is_bare(work.connection, row)
    ]


def _judge(work: Work, record: Erasure) -> Verdict:
    return "take" if _foreign_items(work, record) else "dropped"


ERASURE = RecordKind("erasure", Erasure, check=_check, read=_read, merge=_merge, limit=_limit, judge=_judge)
