"""Field codecs: how the fields of records are written in JSON, and which values are accepted when reading.

A field's form follows from its annotation. Input is treated as hostile: each value is checked before it is used, and an
invalid value raises BadRecord with half a sentence that says what is wrong.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from palazzo.frozen_class import frozen
from palazzo.model import PartKind, Trust

DEEPEST = 64
"""Maximum nesting of lists and objects that is read."""
_DEEPEST_TEXT = DEEPEST - 4
"""The part of this nesting that a JSON text within a record may use."""
_LARGEST = (1 << 63) - 1
_EARLIEST, _LATEST = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The first microsecond of the year 1 and the last of the year 9999: calendars here cannot represent other times."""
_HEX = re.compile(r"(?:[0-9a-f]{2})*")
_ID = re.compile(r"[0-9a-f]{32}")


class BadRecord(ValueError):
    """A line is not a record of this format. The message follows the line's number: `line 7: …`."""


def require(holds: bool, why: str) -> None:
    """Raise BadRecord, with half a sentence that says why, unless a condition holds."""
    if not holds:
        raise BadRecord(why)


Encode = Callable[[Any], object]
Decode = Callable[[object], Any]
Schema = dict[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """How one type of value is written, read and described. Without `encode` it is written unchanged."""

    name: str
    decode: Decode
    schema: Schema
    encode: Encode | None = None


# --- plain values ------------------------------------------------------------------------------------------


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BadRecord("must be a string")
    return value


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
"""Two adjacent surrogate halves that are separate characters: JSON would combine them into one character."""
_BYTES_KEY = "base64"
_BYTES: Schema = {
    "type": "object",
    "properties": {_BYTES_KEY: {"type": "string"}},
    "required": [_BYTES_KEY],
    "additionalProperties": False,
}


def _encode_long(value: str) -> object:
    """Return the form of an item's text; if JSON cannot hold it exactly, it is encoded as bytes."""
    if value.isascii() or not _PAIR.search(value):
        return value
    return _encode_base64(value.encode("utf-8", "surrogatepass"))


def _long(value: object) -> str:
    if isinstance(value, dict):
        try:
            return _decode_base64(value).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise BadRecord("is not valid text") from None
    return _text(value)


def _encode_base64(value: bytes) -> object:
    return {_BYTES_KEY: base64.b64encode(value).decode("ascii")}


def _decode_base64(value: dict[str, object]) -> bytes:
    if list(value) != [_BYTES_KEY]:
        raise BadRecord("must be a string, or an object with no key but 'base64'")
    try:
        return base64.b64decode(_text(value[_BYTES_KEY]), validate=True)
    except (binascii.Error, ValueError):
        raise BadRecord("is not valid base64") from None


def _name(value: object) -> str:
    """Return a text that a table's TEXT column can hold; half of a surrogate pair is not valid."""
    text = _text(value)
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise BadRecord("contains half of a surrogate pair") from None
    return text


def _id(value: object) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise BadRecord("must be an id (32 hexadecimal digits)")
    return value


def _digest(value: object) -> bytes:
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise BadRecord("must be hexadecimal digits")
    return bytes.fromhex(value)


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadRecord("must be an integer")
    if not -_LARGEST <= value <= _LARGEST:
        raise BadRecord("is out of range")
    return value


def _time(value: object) -> int:
    moment = _whole(value)
    if not _EARLIEST <= moment <= _LATEST:
        raise BadRecord("is a time outside the years 1 to 9999")
    return moment


def _share(value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= 1:
        raise BadRecord("must be a number from 0 to 1")
    return float(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise BadRecord("must be true or false")
    return value


def _encode_raw(value: bytes) -> object:
    """Return bytes that are text as text, which is better to read, diff and compress. A NUL would take six."""
    try:
        return _encode_base64(value) if b"\0" in value else value.decode("utf-8")
    except UnicodeDecodeError:
        return _encode_base64(value)


def _raw(value: object) -> bytes:
    return _decode_base64(value) if isinstance(value, dict) else _name(value).encode("utf-8")


TEXT = Form("text", _text, {"type": "string"})
NAME = Form("name", _name, {"type": "string"})
ID = Form("id", _id, {"type": "string", "pattern": "^[0-9a-f]{32}$"})
DIGEST = Form("digest", _digest, {"type": "string", "pattern": "^([0-9a-f]{2})*$"}, bytes.hex)
WHOLE = Form("whole", _whole, {"type": "integer", "minimum": -_LARGEST, "maximum": _LARGEST})
TIME = Form("time", _time, {"type": "integer", "minimum": _EARLIEST, "maximum": _LATEST})
SHARE = Form("share", _share, {"type": "number", "minimum": 0, "maximum": 1})
FLAG = Form("flag", _flag, {"type": "boolean"})
LONG = Form("long", _long, {"oneOf": [{"type": "string"}, _BYTES]}, _encode_long)
RAW = Form("raw", _raw, {"oneOf": [{"type": "string"}, _BYTES]}, _encode_raw)


# --- JSON within a record ----------------------------------------------------------------------------------


_COMPACT = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode


def compact(value: object) -> str:
    """Return a value as JSON in ASCII without spaces, the form in which the palace stores it."""
    return _COMPACT(value)


def _encode_json(json_text: str) -> object:
    """Return a stored JSON text as a value if it encodes to exactly the same text; else as a text."""
    try:
        value: object = json.loads(json_text)
        same = isinstance(value, (dict, list)) and compact(value) == json_text and _depth_within(value, _DEEPEST_TEXT)
    except (ValueError, RecursionError):
        return json_text
    return value if same else json_text


def _json(value: object) -> str:
    try:
        if isinstance(value, str):
            json.loads(value)
            return _name(value)
        if _depth_within(value, _DEEPEST_TEXT):
            return compact(value)
    except BadRecord:
        raise
    except (ValueError, RecursionError):
        raise BadRecord("contains a value that is not valid JSON") from None
    raise BadRecord(f"is nested more than {DEEPEST} levels deep")


def _depth_within(value: object, most: int) -> bool:
    level = [value]
    for _ in range(most):
        level = [
            inner
            for node in level
            if isinstance(node, (dict, list))
            for inner in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return True
    return not any(isinstance(node, (dict, list)) for node in level)


def _meta(value: object) -> str:
    json_text = _json(value)
    if not isinstance(json.loads(json_text), dict):
        raise BadRecord("must be an object")
    return json_text


_PART_KINDS: tuple[str, ...] = get_args(PartKind)
_TRUSTS: tuple[str | None, ...] = (*get_args(Trust), None)


def _part_kind(value: object) -> object:
    if not isinstance(value, str) or value not in _PART_KINDS:
        raise BadRecord(f"has a part whose kind is not one of {', '.join(_PART_KINDS)}")
    return value


def _part_trust(value: object) -> object:
    if not (value is None or isinstance(value, str)) or value not in _TRUSTS:
        raise BadRecord("has a part with an unknown trust")
    return value


_PART: tuple[Decode, ...] = (_part_kind, _whole, _whole, _text, _text, _flag, _part_trust)
_LEAST_OF_PART = 3


def _parts(value: object) -> str:
    json_text = _json(value)
    parts = json.loads(json_text)
    if not isinstance(parts, list) or not parts:
        raise BadRecord("must be a list of parts")
    for part in parts:
        if not isinstance(part, list) or not _LEAST_OF_PART <= len(part) <= len(_PART):
            raise BadRecord("must be a list of [kind, start, end, name, call, failed, trust]")
        for element, decode in zip(part, _PART, strict=False):
            decode(element)
    return json_text


_PART_SCHEMA: Schema = {
    "type": "array",
    "description": "[kind, start, end, name, call, failed, trust]",
    "minItems": _LEAST_OF_PART,
    "maxItems": len(_PART),
}
META = Form("meta", _meta, {"type": ["object", "string"]}, _encode_json)
PARTS = Form("parts", _parts, {"oneOf": [{"type": "array", "items": _PART_SCHEMA}, {"type": "string"}]}, _encode_json)


def _detail(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict) or not _depth_within(value, _DEEPEST_TEXT):
        raise BadRecord("must be an object")
    try:
        compact(value)
    except ValueError:
        raise BadRecord("contains a value that is not valid JSON") from None
    return value


DETAIL = Form("detail", _detail, {"type": "object"})


# --- as fields are annotated -------------------------------------------------------------------------------

Text = Annotated[str, TEXT]
"""Any text, also with lone surrogates: in the name of a file they stand for bytes that are not UTF-8 (PEP 383)."""
Name = Annotated[str, NAME]
Long = Annotated[str, LONG]
Id = Annotated[str, ID]
Digest = Annotated[bytes, DIGEST]
Whole = Annotated[int, WHOLE]
Time = Annotated[int, TIME]
Share = Annotated[float, SHARE]
Flag = Annotated[bool, FLAG]
Raw = Annotated[bytes, RAW]
Meta = Annotated[str, META]
"""The text of a JSON object, as stored; on the wire the object itself."""
Parts = Annotated[str, PARTS]
"""The text of a list of parts, '' if there are none; on the wire the list itself."""
Detail = Annotated[Mapping[str, object], DETAIL]

_ABSENT = object()
_NAME_LIMIT = 40
_T = TypeVar("_T")


@frozen
class Field:
    """One field of a record: the default at which it is omitted, and its form.

    A field without a default is required.
    """

    name: str
    form: Form
    default: object

    @property
    def is_required(self) -> bool:
        """Return whether the field is required."""
        return self.default is _ABSENT


def fields_of(cls: type) -> tuple[Field, ...]:
    """Return the fields of a dataclass that uses this module's annotations, in their order."""
    hints = get_type_hints(cls, include_extras=True)
    return tuple(
        Field(field.name, _form(hints[field.name]), _ABSENT if field.default is dataclasses.MISSING else field.default)
        for field in dataclasses.fields(cls)
    )


def _form(hint: Any) -> Form:
    if hasattr(hint, "__metadata__"):
        (form,) = hint.__metadata__
        assert isinstance(form, Form)  # noqa: S101 - a record's fields are annotated with nothing else
        return form
    if get_origin(hint) is Literal:
        return _choice(get_args(hint))
    if get_origin(hint) is tuple:
        return _many(_form(get_args(hint)[0]))
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return form_of(hint)
    (inner,) = (argument for argument in get_args(hint) if argument is not type(None))
    return _form(inner)  # None is what such a field is left out at


def _choice(choices: tuple[Any, ...]) -> Form:
    choice_list = ", ".join(map(str, choices))

    def decode(value: object) -> object:
        if not isinstance(value, str) or value not in choices:
            raise BadRecord(f"must be one of {choice_list}")
        return value

    return Form("choice", decode, {"enum": [*choices]})


def _many(form: Form) -> Form:
    def decode(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise BadRecord("must be a list")
        return tuple(map(form.decode, value))

    encode = form.encode
    return Form(
        "list",
        decode,
        {"type": "array", "items": form.schema},
        list if encode is None else lambda value: [encode(element) for element in value],
    )


def form_of(cls: type) -> Form:
    """Return the form of a dataclass: an object of its fields."""
    fields = fields_of(cls)
    return Form(
        cls.__name__.lower(),
        lambda value: read(cls, fields, value),
        schema_of(fields),
        lambda one: encode_fields(fields, one),
    )


def encode_fields(fields: tuple[Field, ...], record: object) -> dict[str, object]:
    """Return the fields of a record in written form, without those that have their default value."""
    out: dict[str, object] = {}
    for field in fields:
        value = getattr(record, field.name)
        if value != field.default:
            out[field.name] = value if field.form.encode is None else field.form.encode(value)
    return out


def read(cls: type[_T], fields: tuple[Field, ...], value: object) -> _T:
    """Return the record in an object; raise BadRecord if it is not of that kind, or has an unknown field."""
    if not isinstance(value, dict):
        raise BadRecord("must be an object")
    values: dict[str, Any] = {}
    for field in fields:
        if field.name in value:
            try:
                values[field.name] = field.form.decode(value[field.name])
            except BadRecord as error:
                raise BadRecord(f"'{field.name}' {error}") from None
        elif field.is_required:
            raise BadRecord(f"lacks '{field.name}'")
    if len(values) != len(value):
        extra_name = next(name for name in value if name not in values)
        raise BadRecord(f"has an unknown field '{extra_name[:_NAME_LIMIT]}'; this version does not support it")
    return cls(**values)


def _describe_field(field: Field) -> Schema:
    """Return a field's schema with its default, if the default is significant."""
    if field.is_required or field.default in (None, (), b""):
        return field.form.schema
    return {**field.form.schema, "default": field.default}


def schema_of(fields: tuple[Field, ...]) -> Schema:
    """Return the JSON schema of an object with these fields."""
    return {
        "type": "object",
        "properties": {field.name: _describe_field(field) for field in fields},
        "required": [field.name for field in fields if field.is_required],
        "additionalProperties": False,
    }
