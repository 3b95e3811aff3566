"""Records as lines: what is written, and what may be read.

What is read is taken for hostile. It is checked by line, before anything is made of more than one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import chain

from palazzo.sync import record_validation
from palazzo.sync.field_codecs import BadRecord, Field, compact, encode_fields, fields_of, read
from palazzo.sync.record_types import (
    FORMAT,
    VERSION,
    Act,
    Arrangement,
    Conflict,
    Device,
    Entity,
    EntityLink,
    Erasure,
    Fact,
    FactVersion,
    Group,
    Header,
    Item,
    Link,
    Member,
    PredicateRule,
    Project,
    Record,
    Repetition,
    Revision,
    Room,
    Source,
    State,
    Task,
    Tunnel,
    UnwantedFact,
    Wing,
)

KINDS: dict[str, type[Record]] = {
    "header": Header,
    "device": Device,
    "wing": Wing,
    "room": Room,
    "project": Project,
    "source": Source,
    "item": Item,
    "repetition": Repetition,
    "revision": Revision,
    "link": Link,
    "group": Group,
    "act": Act,
    "task": Task,
    "task_state": State,
    "entity": Entity,
    "entity_link": EntityLink,
    "predicate_rule": PredicateRule,
    "fact": Fact,
    "fact_version": FactVersion,
    "conflict": Conflict,
    "arrangement": Arrangement,
    "tunnel": Tunnel,
    "erasure": Erasure,
    "unwanted_fact": UnwantedFact,
    "member": Member,
}
"""What a line may be, in the order in which they stand."""
NAMES = {cls: kind for kind, cls in KINDS.items()}
FIELDS: dict[type, tuple[Field, ...]] = {cls: fields_of(cls) for cls in KINDS.values()}
"""The fields of each, in their order."""
_KNOWN_BY: dict[type, tuple[str, ...]] = {
    Header: (),
    Project: ("identity",),
    Repetition: ("source", "ordinal", "item"),
    Revision: ("source", "at", "item"),
    Link: ("device", "seq"),
    Task: ("item",),
    UnwantedFact: ("id", "at"),
    Member: ("group", "n"),
}
"""What a record is known by, where that is not its id."""

LARGEST_LINE = 256 * 1024 * 1024
"""Bytes of a line that is read: an item of 64 MiB stands in it twice, as text and as bytes, with escapes."""
MOST_VALUES = 1_000_000
"""Values that one line may hold."""
_EXCERPT_LENGTH = 40
_LOOKED_AT = 1024 * 1024
"""Bytes from which a line is looked at before it is read: what is shorter cannot hold much."""
_IN_QUOTES = re.compile(rb'"[^"]*"?')
"""A text of which the escapes were taken out, also one that does not end: nothing here looks twice at one byte."""


def kind_of(record: Record) -> str:
    """Return what kind of line a record is."""
    return NAMES[type(record)]


def key_of(record: Record) -> tuple[str, ...]:
    """Return what a record is known by: its kind, and its id or what stands for one."""
    names = _KNOWN_BY.get(type(record), ("id",))
    return (NAMES[type(record)], *(str(getattr(record, name)) for name in names))


_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def to_line(record: Record) -> bytes:
    """Return a record as its line, with the line's end: equal records are equal bytes.

    It is UTF-8; only where half a character stands in it, which UTF-8 cannot hold, all of it is ASCII with escapes.
    """
    cls = type(record)
    return line_of(NAMES[cls], encode_fields(FIELDS[cls], record))


def line_of(kind: str, fields: Mapping[str, object]) -> bytes:
    """Return the line of that kind with these fields as they are written."""
    out = {"kind": kind, **fields}
    try:
        return _ENCODE(out).encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return compact(out).encode("ascii") + b"\n"


def from_line(line: bytes) -> Record:
    """Return what a line says, with or without its end.

    Raises BadRecord, whose words go behind `line 7: `, for what is no JSON, too large, of no known kind, or not as
    records of its kind are. Nothing is read beyond what the line says: whether what it refers to is there is for the
    reader of all lines to see.
    """
    kind, value = parse_record(line)
    cls = KINDS.get(kind)
    if cls is None:
        raise BadRecord(f"is of a kind '{kind[:_EXCERPT_LENGTH]}' that this version does not know")
    if cls is Header:
        _check_version(value)
    try:
        record: Record = read(cls, FIELDS[cls], value)
        record_validation.check(record)
        return record
    except BadRecord as error:
        raise BadRecord(f"{kind}: {error}") from None


def parse_record(line: bytes) -> tuple[str, dict[str, object]]:
    """Return the kind of a line and its other members, of which nothing is checked yet; BadRecord for what has none."""
    if len(line) > LARGEST_LINE:
        raise BadRecord(f"is longer than {LARGEST_LINE // (1024 * 1024)} MiB")
    if len(line) > _LOOKED_AT:
        _check_size(line)
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise BadRecord("is no UTF-8 text") from None
    except RecursionError:
        raise BadRecord("is nested too deeply") from None
    except BadRecord:
        raise
    except ValueError:
        raise BadRecord("is no JSON (was the file cut off?)") from None
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        raise BadRecord("is no record: an object with 'kind' is wanted")
    return value.pop("kind"), value


class NewerFormat(BadRecord):
    """A later Palazzo wrote this."""


def _check_version(value: dict[str, object]) -> None:
    version = value.get("version")
    if value.get("format") != FORMAT or not isinstance(version, int):
        return  # it is refused as a record
    if version < 1:
        raise BadRecord(f"says version {version} of the format, which there is none of")
    if version > VERSION:
        raise NewerFormat(
            f"says version {version} of the format, and this Palazzo reads version {VERSION}: upgrade it first"
        )


def _no_constant(name: str) -> object:
    raise BadRecord(f"holds {name}, which is no JSON")


def _check_size(line: bytes) -> None:
    """What a line holds besides texts, counted before anything is made of it."""
    bare = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    at = separators = brackets = 0
    for texts, text in enumerate(chain(_IN_QUOTES.finditer(bare), [None])):  # one by one: there may be very many
        end = len(bare) if text is None else text.start()
        separators += bare.count(b",", at, end) + bare.count(b":", at, end)
        brackets += bare.count(b"[", at, end) + bare.count(b"{", at, end)
        if max(texts // 2, separators, brackets) > MOST_VALUES:
            raise BadRecord(f"holds more than {MOST_VALUES:,} values")
        at = end if text is None else text.end()
