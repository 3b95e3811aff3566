"""The input of a checkpoint: a JSON document, parsed part by part, so that each invalid part can be named."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from palazzo.errors import UsageError

MOST_PARTS = 50
"""The most notes, and the most facts, in one checkpoint. They are written in one transaction, which blocks other
writers: 50 of each took 0.15 s on two busy cores, 9 of each 0.05 s.
"""
_EXCERPT_LENGTH = 60
_LONGEST_PATH = 200
_ITEM = ("content", "text", "wing", "room", "kind", "tags")
_DIARY = ("agent", "agent_name", "entry", "text", "topic", "project")
_FACT = (
    "subject",
    "predicate",
    "object",
    "from",
    "valid_from",
    "to",
    "valid_to",
    "wing",
    "everywhere",
    "confidence",
    "sources",
)
_WHOLE = ("items", "diary", "facts")
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class ItemGiven:
    """A note to save."""

    content: str
    wing: str | None
    room: str | None
    kind: str | None
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntryGiven:
    """A diary entry to save."""

    agent: str
    text: str
    topic: str | None
    project: str | None


@dataclass(frozen=True, slots=True)
class FactGiven:
    """A fact to state; times are as typed."""

    triple: tuple[str, str, str]
    valid_from: str | None
    valid_to: str | None
    wing: str | None
    confidence: float | None
    sources: tuple[str, ...]
    everywhere: bool


@dataclass(frozen=True, slots=True)
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
    record = _part(value, "a note", _ITEM)
    content = _text(record, "content", "text")
    if content is None or not content.strip():
        raise UsageError("the 'content' is missing or empty.")
    return ItemGiven(
        content, _text(record, "wing"), _text(record, "room"), _text(record, "kind"), _texts(record, "tags")
    )


def entry(value: object) -> EntryGiven:
    """Read the diary entry; raise UsageError if it is not one."""
    record = _part(value, "a diary entry", _DIARY)
    agent, text = _text(record, "agent", "agent_name"), _text(record, "entry", "text")
    if agent is None:
        raise UsageError("the 'agent' is missing: name the agent whose diary it is.")
    if text is None or not text.strip():
        raise UsageError("the 'entry' is missing or empty.")
    return EntryGiven(agent, text, _text(record, "topic"), _text(record, "project"))


def fact(value: object) -> FactGiven:
    """Read one fact; raise UsageError if it is not one."""
    record = _part(value, "a fact", _FACT)
    triple = tuple(_text(record, name) for name in ("subject", "predicate", "object"))
    for name, words in zip(("subject", "predicate", "object"), triple, strict=True):
        if words is None:
            raise UsageError(f"the '{name}' is missing.")
    confidence = record.get("confidence")
    if confidence is not None and (isinstance(confidence, bool) or not isinstance(confidence, int | float)):
        raise UsageError("the 'confidence' must be a number between 0 and 1.")
    everywhere = record.get("everywhere", False)
    if not isinstance(everywhere, bool):
        raise UsageError("'everywhere' must be true or false.")
    return FactGiven(
        (triple[0] or "", triple[1] or "", triple[2] or ""),
        _text(record, "from", "valid_from"),
        _text(record, "to", "valid_to"),
        _text(record, "wing"),
        confidence,
        _texts(record, "sources"),
        everywhere,
    )


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


def _part(value: object, noun: str, fields: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"this is not {noun}, which must be a JSON object: {json.dumps(value)[:_EXCERPT_LENGTH]}.")
    _refuse_strange(value, noun, fields)
    return value


def _refuse_strange(record: Mapping[str, Any], noun: str, fields: Sequence[str]) -> None:
    strange = next((name for name in record if name not in fields), None)
    if strange is not None:
        raise UsageError(f"'{strange[:_EXCERPT_LENGTH]}' is not a field of {noun}; fields: {', '.join(fields)}.")


def _text(record: Mapping[str, Any], *names: str) -> str | None:
    """Return the first of these fields that has a value."""
    for name in names:
        value = record.get(name)
        if value is not None and not isinstance(value, str):
            raise UsageError(f"'{name}' must be a string, in quotes.")
        if value is not None:
            return value
    return None


def _texts(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = record.get(name) or ()
    if not isinstance(value, list | tuple) or not all(isinstance(member, str) for member in value):
        raise UsageError(f"'{name}' must be a list of strings.")
    return tuple(value)
