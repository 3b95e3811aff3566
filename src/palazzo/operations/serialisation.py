"""Results as JSON: keys are the field names, times are ISO-8601 in UTC, ids are complete."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from palazzo.model import Micros
from palazzo.operations.operation import PersonOnly
from palazzo.text.times import to_iso


def to_json(value: Any) -> Any:
    """Return `value`, a result or a part of one, in a form that `json` can write.

    A field of type `Micros` becomes a time, and null if the time is not known (0). Fields that are `PERSON_ONLY` are
    left out.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: _field(getattr(value, name), is_time) for name, is_time in _fields(type(value))}
    if isinstance(value, Mapping):
        return {str(key): to_json(member) for key, member in value.items()}
    if isinstance(value, list | tuple | frozenset | set):
        return [to_json(member) for member in value]
    return str(value) if isinstance(value, Path) else value


def _field(value: Any, is_time: bool) -> Any:
    if not is_time:
        return to_json(value)
    return to_iso(value) if value else None


@cache
def _fields(kind: type) -> tuple[tuple[str, bool], ...]:
    """Return the fields to write, and whether each is a time."""
    hints = get_type_hints(kind, include_extras=True)
    names = [field.name for field in dataclasses.fields(kind)]
    return tuple((name, _is_time(hints[name])) for name in names if not _is_person_only(hints[name]))


def _is_person_only(hint: Any) -> bool:
    return get_origin(hint) is Annotated and any(isinstance(extra, PersonOnly) for extra in get_args(hint)[1:])


def _is_time(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) in (Union, types.UnionType):
        return Micros in get_args(hint)
    return hint is Micros
