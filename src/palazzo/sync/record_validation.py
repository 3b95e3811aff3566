"""What a record must say for its type: an arrangement that moves something says where to.

Each field by itself was checked before. What is told here would be a record that nothing can be made of, wherever it
came from.
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
"""Bytes of what a link holds."""
_STANDINGS = range(3)
_ENDS = 2
_NEEDS = {"tag": ("tag",), "untag": ("tag",), "move": ("wing", "room")}
"""What the detail of an act must name, by its type."""


def check(record: Record) -> None:
    """Raise BadRecord, with half a sentence, where a record lacks what its type needs or says what cannot be."""
    match record:
        case Source():
            _must(bool(record.key), "'key' names nothing")
        case Item(type="message"):  # a note stands at its time, which may be before 1970
            _must(record.ordinal >= 0, "'ordinal' of a message counts from 0")
        case Link():
            _must(len(record.digest) == len(record.hash) == _HASH_BYTES, "'digest' and 'hash' have 32 bytes")
            _must(record.seq > 0, "'seq' counts from 1")
        case Act():
            _act(record)
        case EntityLink():
            _must(bool(record.name) if record.type == "alias" else record.other is not None, "says no name or no other")
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
            _must((record.number if record.type == "undone" else record.ref) is not None, "says not of what")
        case _:
            pass


def _must(holds: bool, why: str) -> None:
    if not holds:
        raise BadRecord(why)


def _act(act: Act) -> None:
    missing = next((name for name in _NEEDS.get(act.type, ()) if not isinstance(act.detail.get(name), str)), None)
    _must(missing is None, f"'detail' lacks '{missing}'")
    _must("row" not in act.detail, "'detail' tells a row of another palace")
    _must(all(isinstance(value, str) for value in act.detail.values()), "'detail' must be of texts")
    for span in act.spans:
        _stretch(span)


def _stretch(span: Span) -> None:
    _must(0 <= span.start <= span.end, "a stretch ends before it begins")


def _version(version: FactVersion) -> None:
    _must(
        version.valid_from is None or version.valid_to is None or version.valid_from < version.valid_to,
        "ends before it begins",
    )
    for source in version.sources:
        _statement(source)


def _statement(statement: Statement) -> None:
    _must((statement.start is None) == (statement.end is None), "a stretch has a start and an end, or neither")
    _must(
        statement.start is None or statement.end is None or 0 <= statement.start <= statement.end,
        "a stretch ends before it begins",
    )


def _side(side: Side) -> None:
    _must((side.fact is None) != (side.item is None), "each side is a fact, or words of an item")
    words = side.start is not None and side.end is not None and 0 <= side.start <= side.end
    _must(side.fact is not None or words, "words of an item are a stretch of it")


def _arrangement(arrangement: Arrangement) -> None:
    _must((arrangement.wing is None) != (arrangement.room is None), "is of a wing or of a room")
    match arrangement.type:
        case "name":
            _must(bool(arrangement.name), "lacks 'name'")
            _must(arrangement.room is None or arrangement.target is not None, "lacks 'target'")
        case "move":
            _must(
                arrangement.room is not None and arrangement.target is not None and bool(arrangement.name),
                "moves no room to a wing",
            )
        case "merge":
            _must(arrangement.target is not None, "lacks 'target'")
        case _:
            assert_never(arrangement.type)


def _certificate(text: str) -> None:
    """What replicas show of an erasure that another carried out: '' where an export holds a part of it."""
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
        raise BadRecord("'certificate' is none") from None
    _must(
        all(type(value) is int for value in numbers)
        and all(type(value) is str for value in words)
        and all(len(span) == _ENDS for span in spans),
        "'certificate' is none",
    )


def _tombstone(tombstone: Tombstone) -> None:
    _must(tombstone.size > 0 and tombstone.standing in _STANDINGS and bool(tombstone.hash), "is no tombstone")
