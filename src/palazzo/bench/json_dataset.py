"""Reading a data set's JSON: what is not as it should be is said in one sentence, with its place in the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from palazzo.errors import UsageError

T = TypeVar("T")

_TYPE_NAMES: dict[type, str] = {str: "text", int: "a number", list: "a list", dict: "an object"}


class DocumentError(ValueError):
    """A document is not what its reader reads; the message is a clause that says where."""


def load(path: Path) -> Any:
    """Return what a JSON file holds; UsageError when it cannot be read or is no JSON."""
    try:
        return json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not a JSON file ({error}); give the data set's own file.") from None


def entries(document: Any, kind: type[T], location: str) -> list[T]:
    """Return the members of a list, all of which must be of `kind`; Malformed otherwise."""
    if not isinstance(document, list):
        raise DocumentError(f"{location} is not a list")
    for number, entry in enumerate(document, 1):
        if not isinstance(entry, kind):
            raise DocumentError(f"entry {number} of {location} is not {_TYPE_NAMES[kind]}")
    return document


def need(record: Mapping[str, Any], name: str, kind: type[T], location: str) -> T:
    """Return the field `name` of a record, which must be of `kind`; Malformed otherwise."""
    if name not in record:
        raise DocumentError(f"{location} has no '{name}'")
    value = record[name]
    if not isinstance(value, kind):
        raise DocumentError(f"'{name}' of {location} is not {_TYPE_NAMES[kind]}")
    return value


def question(record: Mapping[str, Any], location: str) -> str:
    """Return what a record asks; Malformed where it asks nothing."""
    text = need(record, "question", str, location)
    if not text.strip():
        raise DocumentError(f"'question' of {location} is empty")
    return text


def unique(name: str, used_names: set[str]) -> str:
    """Return `name`, with a number behind it where it is `taken` already; it is taken from now on."""
    own, number = name, 1
    while own in used_names:
        number += 1
        own = f"{name}~{number}"
    used_names.add(own)
    return own
