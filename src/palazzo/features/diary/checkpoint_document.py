"""The input of a checkpoint: a JSON document, parsed part by part, so that each invalid part can be named."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar, get_origin

from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.operations.operation import About, FieldDescription, describe_fields
from palazzo.operations.validation import fits

MOST_PARTS = 50
"""The most notes, and the most facts, in one checkpoint. They are written in one transaction, which blocks other
writers: 50 of each took 0.15 s on two busy cores, 9 of each 0.05 s.
"""
_EXCERPT_LENGTH = 60
_LONGEST_PATH = 200
_WHOLE = ("items", "diary", "facts")
_REQUIRED: Mapping[Any, str] = {
    str: "a string, in quotes",
    bool: "true or false",
    float: "a number between 0 and 1",
    tuple: "a list of strings",
}
_Read = TypeVar("_Read")


@frozen
class ItemGiven:
    """A note to save. A field's `About` holds its name in the document, if that is another one, and other spellings."""

    content: Annotated[str, About("", aliases=("text",))]
    wing: str | None = None
    room: str | None = None
    kind: str | None = None
    tags: tuple[str, ...] = ()
    by: str | None = None


@frozen
class EntryGiven:
    """A diary entry to save."""

    agent: Annotated[str, About("name the agent whose diary it is", aliases=("agent_name",))]
    text: Annotated[str, About("", option="entry", aliases=("text",))]
    topic: str | None = None
    project: str | None = None


@frozen
class FactGiven:
    """A fact to state; times are as typed."""

    subject: str
    predicate: str
    object: str
    valid_from: Annotated[str | None, About("", option="from", aliases=("valid_from",))] = None
    valid_to: Annotated[str | None, About("", option="to", aliases=("valid_to",))] = None
    wing: str | None = None
    everywhere: bool = False
    confidence: float | None = None
    sources: tuple[str, ...] = ()


@frozen
class CheckpointParts:
    """All parts of a document, as given."""

    items: tuple[object, ...]
    diary: object | None
    facts: tuple[object, ...]

    def name(self, part: str, number: int = 0) -> str:
        """Return the name of a part in messages: `item 5 of 9`."""
        if part == "diary":
            return "the diary entry"
        return f"{part} {number} of {len(self.items if part == 'item' else self.facts)}"


class Problems:
    """Collects all errors in the parts, to report them together."""

    def __init__(self) -> None:
        self._found: list[str] = []

    def reading(self, part: str, read: Callable[[], _Read]) -> _Read | None:
        """Return the result of `read`; record the error message and return None if it raises UsageError."""
        try:
            return read()
        except UsageError as error:
            self._found.append(f"{part}: {error}")
            return None

    def raise_any(self) -> None:
        """Raise UsageError if there are problems: the first ones in full, and the number of others."""
        if self._found:
            raise UsageError(nothing_saved(" Also ".join(self._found[:3]), len(self._found) - 3))


def nothing_saved(why: str, more: int = 0) -> str:
    """Return the error message of a checkpoint that was refused."""
    remainder = f" {more} more parts are also invalid." if more > 0 else ""
    return f"Nothing was saved. {why[:1].upper()}{why[1:]}{remainder}"


def parts(document: str) -> CheckpointParts:
    """Return the parts of a document; raise UsageError for a text that is not a checkpoint."""
    record = _object(document)
    items, facts = (_several(record, name) for name in ("items", "facts"))
    diary = record.get("diary")
    if not items and not facts and diary is None:
        raise UsageError('There is nothing to save: give "items", "diary" or "facts".')
    return CheckpointParts(items, diary, facts)


def item(value: object) -> ItemGiven:
    """Read one note; raise UsageError if it is not one."""
    return _read_part(ItemGiven, "a note", value)


def entry(value: object) -> EntryGiven:
    """Read the diary entry; raise UsageError if it is not one."""
    return _read_part(EntryGiven, "a diary entry", value)


def fact(value: object) -> FactGiven:
    """Read one fact; raise UsageError if it is not one."""
    return _read_part(FactGiven, "a fact", value)


def _object(document: str) -> Mapping[str, Any]:
    try:
        record = json.loads(document.removeprefix("\ufeff"))
    except ValueError as error:
        file_name = document.strip()
        file = f" To read a file, pass it through standard input: palazzo checkpoint - < {file_name}"
        looks_like_file = (
            file_name.lower().endswith(".json") and "\n" not in file_name and len(file_name) <= _LONGEST_PATH
        )
        raise UsageError(
            f"A checkpoint must be a JSON document, but this is not one: {error}.{file if looks_like_file else ''}"
        ) from None
    except RecursionError:
        raise UsageError(
            "A checkpoint must be a JSON document, but this one is nested too deeply to be read."
        ) from None
    if not isinstance(record, dict):
        raise UsageError('A checkpoint is a JSON object with "items", "diary" and "facts".')
    _refuse_strange(record, "a checkpoint", _WHOLE)
    return record


def _several(record: Mapping[str, Any], name: str) -> tuple[object, ...]:
    members = record.get(name) or ()
    if not isinstance(members, list | tuple):
        raise UsageError(f'"{name}" must be a list.')
    if len(members) > MOST_PARTS:
        raise UsageError(
            f'"{name}" has {len(members):,} members; the limit is {MOST_PARTS}: save them in several steps.'
        )
    return tuple(members)


def _read_part(kind: type[_Read], noun: str, value: object) -> _Read:
    if not isinstance(value, dict):
        raise UsageError(f"this is not {noun}, which must be a JSON object: {json.dumps(value)[:_EXCERPT_LENGTH]}.")
    fields = describe_fields(kind)
    _refuse_strange(value, noun, [name for field in fields for name in _names(field)])
    values = {field.name: _read_field(field, value) for field in fields}
    return kind(**{name: given for name, given in values.items() if given is not None})


def _refuse_strange(record: Mapping[str, Any], noun: str, fields: Sequence[str]) -> None:
    strange = next((name for name in record if name not in fields), None)
    if strange is not None:
        raise UsageError(f"'{strange[:_EXCERPT_LENGTH]}' is not a field of {noun}; fields: {', '.join(fields)}.")


def _names(field: FieldDescription) -> tuple[str, ...]:
    return (field.about.option or field.name, *field.about.aliases)


def _read_field(field: FieldDescription, record: Mapping[str, Any]) -> Any:
    """Return the value of the first of a field's names that has one; None if none has."""
    names = _names(field)
    name = next((name for name in names if record.get(name) is not None), names[0])
    value = record.get(name)
    if get_origin(field.type) is tuple and not value:
        return None
    if value is not None and not _fits(field.type, value):
        raise UsageError(f"'{name}' must be {_REQUIRED[get_origin(field.type) or field.type]}.")
    if field.is_required and not (value or "").strip():
        why = f": {field.about.help}" if field.about.help else ""
        raise UsageError(f"the '{name}' is missing or empty{why}.")
    return tuple(value) if isinstance(value, list) else value


def _fits(kind: Any, value: object) -> bool:
    if get_origin(kind) is tuple:
        return isinstance(value, list) and all(fits(str, member) for member in value)
    return fits(kind, value)
