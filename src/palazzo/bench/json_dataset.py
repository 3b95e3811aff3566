"""Reader for a data set's JSON: reports invalid data in one sentence, with its position in the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from palazzo.errors import UsageError

T = TypeVar("T")

_TYPE_NAMES: dict[type, str] = {str: "text", int: "a number", list: "a list", dict: "an object"}


class DocumentError(ValueError):
    """The document does not have the format that its reader expects; the message is a clause that says where."""


def load(path: Path) -> Any:
    """Return the content of a JSON file; raise UsageError if it cannot be read or is not JSON."""
    try:
        return json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not a JSON file ({error}); give the data set's own file.") from None


def entries(document: Any, kind: type[T], location: str) -> list[T]:
    """Return the members of a list, all of which must be of `kind`; raise Malformed otherwise."""
    if not isinstance(document, list):
        raise DocumentError(f"{location} is not a list")
    for number, entry in enumerate(document, 1):
        if not isinstance(entry, kind):
            raise DocumentError(f"entry {number} of {location} is not {_TYPE_NAMES[kind]}")
    return document


def need(record: Mapping[str, Any], name: str, kind: type[T], location: str) -> T:
    """Return the field `name` of a record, which must be of `kind`; raise Malformed otherwise."""
    if name not in record:
        raise DocumentError(f"{location} has no '{name}'")
    value = record[name]
    if not isinstance(value, kind):
        raise DocumentError(f"'{name}' of {location} is not {_TYPE_NAMES[kind]}")
    return value


def question(record: Mapping[str, Any], location: str) -> str:
    """Return the question of a record; raise Malformed if it has none."""
    text = need(record, "question", str, location)
    if not text.strip():
        raise DocumentError(f"'question' of {location} is empty")
    return text


def unique(name: str, used_names: set[str]) -> str:
    """Return `name`, with a number after it if it is already `used_names`; add the result to `used_names`."""
    own, number = name, 1
    while own in used_names:
        number += 1
        own = f"{name}~{number}"
    used_names.add(own)
    return own
