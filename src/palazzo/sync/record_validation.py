"""Record validation: what a record must contain for its type; an arrangement that moves something names its target.

The fields were checked one by one before. This module rejects records that cannot be used, whatever their origin.
"""

from __future__ import annotations

from typing import assert_never

from palazzo.sync.field_codecs import BadRecord
from palazzo.sync.record_types import (
    Act,
    Arrangement,
    Conflict,
    EntityLink,
    Erasure,
    FactVersion,
    Item,
    Link,
    Member,
    Record,
    Side,
    Source,
    Span,
    Statement,
    Tombstone,
)

_HASH_BYTES = 32
"""Bytes of each hash in a link."""
_STANDINGS = range(3)
_ENDS = 2
_NEEDS = {"tag": ("tag",), "untag": ("tag",), "move": ("wing", "room")}
"""The keys that an act's detail must have, by its type."""


def check(record: Record) -> None:
    """Raise BadRecord, with half a sentence, if a record lacks required fields or has impossible values."""
    match record:
        case Source():
            _must(bool(record.key), "'key' is empty")
        case Item(type="message"):  # a note stands at its time, which may be before 1970
            _must(record.ordinal >= 0, "'ordinal' of a message must be at least 0")
        case Link():
            _must(len(record.digest) == len(record.hash) == _HASH_BYTES, "'digest' and 'hash' must have 32 bytes")
            _must(record.seq > 0, "'seq' must be at least 1")
        case Act():
            _act(record)
        case EntityLink():
            if record.type == "alias":
                _must(bool(record.name), "lacks 'name'")
            else:
                _must(record.other is not None, "lacks 'other'")
        case FactVersion():
            _version(record)
        case Conflict():
            _side(record.earlier)
            _side(record.later)
        case Arrangement():
            _arrangement(record)
        case Erasure():
            _certificate(record.certificate)
            for tombstone in record.tombstones:
                _tombstone(tombstone)
        case Member():
            _must((record.number if record.type == "undone" else record.ref) is not None, "lacks 'number' or 'ref'")
        case _:
            pass


def _must(holds: bool, why: str) -> None:
    if not holds:
        raise BadRecord(why)


def _act(act: Act) -> None:
    missing = next((name for name in _NEEDS.get(act.type, ()) if not isinstance(act.detail.get(name), str)), None)
    _must(missing is None, f"'detail' lacks '{missing}'")
    _must("row" not in act.detail, "'detail' contains a row of another palace")
    _must(all(isinstance(value, str) for value in act.detail.values()), "'detail' must contain only strings")
    for span in act.spans:
        _stretch(span)


def _stretch(span: Span) -> None:
    _must(0 <= span.start <= span.end, "a span ends before it begins")


def _version(version: FactVersion) -> None:
    _must(
        version.valid_from is None or version.valid_to is None or version.valid_from < version.valid_to,
        "ends before it begins",
    )
    for source in version.sources:
        _statement(source)


def _statement(statement: Statement) -> None:
    _must((statement.start is None) == (statement.end is None), "a span must have both a start and an end, or neither")
    _must(
        statement.start is None or statement.end is None or 0 <= statement.start <= statement.end,
        "a span ends before it begins",
    )


def _side(side: Side) -> None:
    _must((side.fact is None) != (side.item is None), "each side must be either a fact or a span of an item")
    words = side.start is not None and side.end is not None and 0 <= side.start <= side.end
    _must(side.fact is not None or words, "a side that is an item must have a valid span")


def _arrangement(arrangement: Arrangement) -> None:
    _must((arrangement.wing is None) != (arrangement.room is None), "must be of either a wing or a room")
    match arrangement.type:
        case "name":
            _must(bool(arrangement.name), "lacks 'name'")
            _must(arrangement.room is None or arrangement.target is not None, "lacks 'target'")
        case "move":
            _must(
                arrangement.room is not None and arrangement.target is not None and bool(arrangement.name),
                "does not move a room to a wing",
            )
        case "merge":
            _must(arrangement.target is not None, "lacks 'target'")
        case _:
            assert_never(arrangement.type)


def _certificate(text: str) -> None:
    """Validate a certificate of an erasure on another device; '' where an export holds a part of it."""
    if not text:
        return
    from palazzo.archive import certificates  # nothing else here needs what erases

    try:
        proof = certificates.load(text)
        spans = [span for item in proof.items for span in item.spans]
        numbers = [proof.at, proof.packs, proof.left, proof.chain_seq, *proof.names.values(), *proof.looked.values()]
        numbers += [*proof.unreadable, *(end for span in spans for end in span)]
        words = [proof.palace, proof.erasure, proof.chain_head, *proof.tombstones, *(item.id for item in proof.items)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadRecord("'certificate' is invalid") from None
    _must(
        all(type(value) is int for value in numbers)
        and all(type(value) is str for value in words)
        and all(len(span) == _ENDS for span in spans),
        "'certificate' is invalid",
    )


def _tombstone(tombstone: Tombstone) -> None:
    _must(tombstone.size > 0 and tombstone.standing in _STANDINGS and bool(tombstone.hash), "is not a valid tombstone")
