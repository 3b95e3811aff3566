"""Record lines: how records are written as lines, and which lines are accepted when reading.

Input is treated as hostile. It is checked line by line, before more than one line is used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import chain

from palazzo.sync.field_codecs import BadRecord, Field, compact, encode_fields, fields_of, read
from palazzo.sync.records.header_record import FORMAT, HEADER, VERSION
from palazzo.sync.records.kind_registry import RECORD_KINDS, descriptor_of
from palazzo.sync.records.record_kind import Record

_FIELDS: dict[str, tuple[Field, ...]] = {name: fields_of(kind.record_class) for name, kind in RECORD_KINDS.items()}

LARGEST_LINE = 256 * 1024 * 1024
"""Maximum bytes of a line that is read: an item of 64 MiB occurs in it twice, as text and as bytes, with escapes."""
MOST_VALUES = 1_000_000
"""Maximum number of values in one line."""
_EXCERPT_LENGTH = 40
_LOOKED_AT = 1024 * 1024
"""Minimum bytes of a line that is checked before it is parsed: a shorter line cannot contain many values."""
_IN_QUOTES = re.compile(rb'"[^"]*"?')
"""A text without its escapes, including an unterminated one: no byte is read twice here."""


def kind_of(record: Record) -> str:
    """Return the line kind of a record."""
    return descriptor_of(record).name


def key_of(record: Record) -> tuple[str, ...]:
    """Return the identity of a record: its kind, and its ID or what replaces one."""
    return descriptor_of(record).key(record)


_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def to_line(record: Record) -> bytes:
    """Return a record as its line, with the line's end: equal records are equal bytes.

    It is UTF-8; only if the record contains a lone surrogate, which UTF-8 cannot hold, the whole line is ASCII with
    escapes.
    """
    kind = kind_of(record)
    return line_of(kind, encode_fields(_FIELDS[kind], record))


def line_of(kind: str, fields: Mapping[str, object]) -> bytes:
    """Return the line of that kind with these encoded fields."""
    out = {"kind": kind, **fields}
    try:
        return _ENCODE(out).encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return compact(out).encode("ascii") + b"\n"


def from_line(line: bytes) -> Record:
    """Parse a line, with or without its end.

    Raises BadRecord, whose words follow `line 7: `, if the line is not JSON, is too large, has no known kind, or does
    not have the form of its kind. Only the line itself is checked: whether its references exist is for the reader of
    all lines to check.
    """
    name, value = parse_record(line)
    kind = RECORD_KINDS.get(name)
    if kind is None:
        raise BadRecord(f"has a kind '{name[:_EXCERPT_LENGTH]}' that this version does not know")
    if kind is HEADER:
        _check_version(value)
    try:
        record: Record = read(kind.record_class, _FIELDS[name], value)
        kind.check(record)
        return record
    except BadRecord as error:
        raise BadRecord(f"{name}: {error}") from None


def parse_record(line: bytes) -> tuple[str, dict[str, object]]:
    """Return a line's kind and its other members, not yet checked; raises BadRecord if it has no kind."""
    if len(line) > LARGEST_LINE:
        raise BadRecord(f"is longer than {LARGEST_LINE // (1024 * 1024)} MiB")
    if len(line) > _LOOKED_AT:
        _check_size(line)
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise BadRecord("is not UTF-8 text") from None
    except RecursionError:
        raise BadRecord("is nested too deeply") from None
    except BadRecord:
        raise
    except ValueError:
        raise BadRecord("is not valid JSON (was the file truncated?)") from None
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        raise BadRecord("is not a record: an object with 'kind' is expected")
    return value.pop("kind"), value


class NewerFormat(BadRecord):
    """A later version of Palazzo wrote this."""


def _check_version(value: dict[str, object]) -> None:
    version = value.get("version")
    if value.get("format") != FORMAT or not isinstance(version, int):
        return  # it is refused as a record
    if version < 1:
        raise BadRecord(f"declares version {version} of the format, which does not exist")
    if version > VERSION:
        raise NewerFormat(
            f"declares version {version} of the format, but this Palazzo reads version {VERSION}: upgrade it first"
        )


def _no_constant(name: str) -> object:
    raise BadRecord(f"contains {name}, which is not valid JSON")


def _check_size(line: bytes) -> None:
    """Count a line's values other than texts, before any of them is created."""
    bare = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    at = separators = brackets = 0
    for texts, text in enumerate(chain(_IN_QUOTES.finditer(bare), [None])):  # one by one: there may be very many
        end = len(bare) if text is None else text.start()
        separators += bare.count(b",", at, end) + bare.count(b":", at, end)
        brackets += bare.count(b"[", at, end) + bare.count(b"{", at, end)
        if max(texts // 2, separators, brackets) > MOST_VALUES:
            raise BadRecord(f"contains more than {MOST_VALUES:,} values")
        at = end if text is None else text.end()
