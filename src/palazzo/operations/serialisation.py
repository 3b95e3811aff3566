"""Requests and results as plain JSON: for programs of people, and between processes, where they are decoded again.

`to_json` writes output for people's programs: keys are the field names, times are ISO-8601 in UTC, ids are complete.
Between processes (`to_wire`, `from_wire`) nothing is left out or made more readable:

    dataclass       an object with every field; one that derives from another names itself under ""
    tuple, list, …  an array
    mapping         an object; if a key is not a string that JSON keeps: {"pairs": an array of pairs}
    str             a string; one with surrogates, which JSON does not always keep: {"utf8": its bytes in base64}
    bytes           a string in base64
    Path            a string
    float           a number; one that is not finite: {"float": "nan"}, "inf" or "-inf"

A mapping that looks like one of these special objects is encoded as pairs, so that values without a declared type
(`Any`: JSON from outside) also arrive unchanged.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import math
import reprlib
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from palazzo.errors import UsageError
from palazzo.model import Micros
from palazzo.operations.operation import FieldDescription, bare_type, describe_fields
from palazzo.operations.validation import COLLECTIONS, describe_type, fits, misfit, missing
from palazzo.text.times import to_iso

T = TypeVar("T")
_CLASS = ""
_FORMS = ("utf8", "float", "pairs")
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlist = _SHORT.maxdict = 2
_SHORT.maxlevel = 1


def to_json(value: Any) -> Any:
    """Return `value`, a result or a part of one, in a form that people's programs read.

    A field of type `Micros` becomes a time, and null if the time is not known (0). Fields that are `PERSON_ONLY` are
    left out.
    """
    return _write(value, _readable_members, lambda scalar: str(scalar) if isinstance(scalar, Path) else scalar)


def to_wire(value: Any) -> Any:
    """Return `value`, a request or a result or a part of one, in a form that JSON can carry."""
    return _write(value, _all_members, _wire_scalar)


def _write(value: Any, members: Callable[[Any], Mapping[str, Any]], scalar: Callable[[Any], Any]) -> Any:
    """Return a value as plain JSON: `members` are those of a dataclass or a mapping, `scalar` writes a single value."""
    if isinstance(value, tuple | list | set | frozenset):
        return [_write(member, members, scalar) for member in value]
    if isinstance(value, Mapping) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        return {name: _write(member, members, scalar) for name, member in members(value).items()}
    return scalar(value)


def _readable_members(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return {str(key): member for key, member in value.items()}
    return {
        field.name: _readable_time(getattr(value, field.name)) if field.is_time else getattr(value, field.name)
        for field in describe_fields(type(value))
        if not field.is_person_only
    }


def _readable_time(moment: Micros | None) -> str | None:
    return to_iso(moment) if moment else None


def _all_members(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        is_kept = all(isinstance(key, str) and _is_kept(key) for key in value) and _form(value) is None
        return value if is_kept else {"pairs": list(value.items())}
    own = {_CLASS: type(value).__name__} if _derives(type(value)) else {}
    return own | {field.name: getattr(value, field.name) for field in describe_fields(type(value))}


def _wire_scalar(value: Any) -> Any:
    match value:
        case None | bool() | int():
            return value
        case str():
            return value if _is_kept(value) else {"utf8": _base64(value.encode("utf-8", "surrogatepass"))}
        case float():
            return value if math.isfinite(value) else {"float": str(value)}
        case bytes():
            return _base64(value)
        case Path():
            return _wire_scalar(str(value))
    raise TypeError(f"{type(value).__name__} cannot be encoded as JSON")


def from_wire(kind: type[T], plain: Any) -> T:
    """Return the value of type `kind` that `plain` encodes.

    Raises UsageError, naming the field, if one is unknown, missing or of another type.
    """
    return cast(T, _read(kind, plain, ""))


class _Misfit(UsageError):
    """The value has a different type. Another member of a union may match."""


def _read(hint: Any, plain: Any, at: str) -> Any:
    hint = bare_type(hint)
    origin = get_origin(hint) or hint
    if hint in (Any, object):
        return _read_untyped(plain, at)
    if dataclasses.is_dataclass(hint):
        return _read_dataclass(cast(type, hint), plain, at)
    if origin in (Union, types.UnionType):
        return _read_union(hint, plain, at)
    if origin is Literal:
        return _read_literal(hint, plain, at)
    if origin in COLLECTIONS:
        return _read_collection(hint, plain, at)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _read_mapping(hint, plain, at)
    return _read_scalar(hint, plain, at)


def _read_dataclass(kind: type, plain: Any, at: str) -> Any:
    if not isinstance(plain, dict):
        raise _misfit("an object", plain, at)
    kind = _resolve_class(kind, plain.get(_CLASS), at)
    fields = _fields_by_name(kind)
    for name in plain:
        if name not in fields and name != _CLASS:
            raise UsageError(
                f"'{_inside(at, name)}' is not a field here; the fields are: {', '.join(fields) or 'none'}."
            )
    for name, field in fields.items():
        if field.is_required and name not in plain:
            raise UsageError(missing(_inside(at, name)))
    return kind(
        **{name: _read(field.hint, plain[name], _inside(at, name)) for name, field in fields.items() if name in plain}
    )


@cache
def _fields_by_name(kind: type) -> Mapping[str, FieldDescription]:
    return {field.name: field for field in describe_fields(kind)}


def _resolve_class(kind: type, name: Any, at: str) -> type:
    """Return the class of that name that derives from `kind`, or `kind` if no name is given."""
    if name is None or name == kind.__name__:
        return kind
    queue: list[type] = kind.__subclasses__()
    while queue:
        subclass = queue.pop()  # the newest first: what a class was before it got its slots has the same name
        if subclass.__name__ == name and dataclasses.is_dataclass(subclass):
            return subclass
        queue += subclass.__subclasses__()
    raise _misfit(kind.__name__, name, at)


def _read_union(hint: Any, plain: Any, at: str) -> Any:
    members = sorted(get_args(hint), key=lambda member: bare_type(member) is not type(plain))  # 1: an int, or a float
    for member in members:
        try:
            return _read(member, plain, at)
        except _Misfit:
            if len(members) == 2 and types.NoneType in members and member is not types.NoneType:
                raise  # it says more closely what does not fit
    raise _misfit(describe_type(hint), plain, at)


def _read_literal(hint: Any, plain: Any, at: str) -> Any:
    for option in get_args(hint):
        if type(plain) is type(option) and plain == option:
            return option
    raise _misfit(describe_type(hint), plain, at)


def _read_collection(hint: Any, plain: Any, at: str) -> Any:
    if not isinstance(plain, list):
        raise _misfit("a list", plain, at)
    kind = COLLECTIONS[get_origin(hint) or hint]
    members = get_args(hint)
    if kind is tuple and members and members[-1] is not ...:
        if get_origin(hint) is tuple and len(members) != len(plain):
            raise _misfit(f"a list of {len(members)}", plain, at)
        member_hints = members if get_origin(hint) is tuple else members * len(plain)
    else:
        member_hints = (members[0] if members else Any,) * len(plain)
    return kind(
        _read(member, element, f"{at}[{n}]")
        for n, (member, element) in enumerate(zip(member_hints, plain, strict=True))
    )


def _read_mapping(hint: Any, plain: Any, at: str) -> Any:
    if not isinstance(plain, dict) or (pairs := _pairs(plain)) is None:
        raise _misfit("an object", plain, at)
    key, member = get_args(hint) or (str, Any)
    return {_read(key, k, at): _read(member, v, _inside(at, str(k))) for k, v in pairs}


def _pairs(plain: dict[str, Any]) -> Iterable[Sequence[Any]] | None:
    if _form(plain) != "pairs":
        return plain.items()
    pairs = plain["pairs"]
    whole = isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
    return pairs if whole and not any(isinstance(key, list | dict) and _text(key) is None for key, _ in pairs) else None


def _read_untyped(plain: Any, at: str) -> Any:
    if isinstance(plain, list):
        return [_read_untyped(element, f"{at}[{n}]") for n, element in enumerate(plain)]
    if not isinstance(plain, dict):
        return plain
    kind = {"utf8": str, "float": float}.get(_form(plain) or "", dict[Any, Any])
    return _read(kind, plain, at)


def _read_scalar(hint: Any, plain: Any, at: str) -> Any:
    match hint:
        case types.NoneType if plain is None:
            return None
        case builtin if builtin in (str, Path) and (text := _text(plain)) is not None:
            return builtin(text)
        case builtin if builtin is bytes and (body := _bytes(plain)) is not None:
            return body
        case builtin if builtin is float and (number := _number(plain)) is not None:
            return number
        case builtin if builtin in (bool, int) and fits(builtin, plain):
            return plain
    raise _misfit(describe_type(hint), plain, at)


def _text(plain: Any) -> str | None:
    if _form(plain) == "utf8" and (body := _bytes(plain["utf8"])) is not None:
        try:
            return body.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return None
    return plain if isinstance(plain, str) else None


def _bytes(plain: Any) -> bytes | None:
    try:
        return base64.b64decode(plain, validate=True) if isinstance(plain, str) else None
    except (binascii.Error, ValueError):
        return None


def _number(plain: Any) -> float | None:
    if _form(plain) == "float" and plain["float"] in ("nan", "inf", "-inf"):
        return float(plain["float"])
    return plain if fits(float, plain) else None


def _form(plain: Any) -> str | None:
    """Return which encoding an object uses if it stands for something else."""
    name = next(iter(plain)) if isinstance(plain, Mapping) and len(plain) == 1 else None
    return name if name in _FORMS else None


def _misfit(requirement: str, plain: Any, at: str) -> _Misfit:
    return _Misfit(misfit(at, requirement, _SHORT.repr(plain)))


def _inside(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _is_kept(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _base64(body: bytes) -> str:
    return base64.b64encode(body).decode()


def _derives(kind: type) -> bool:
    return any(dataclasses.is_dataclass(base) for base in kind.__mro__[1:])
