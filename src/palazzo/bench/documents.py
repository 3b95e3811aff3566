"""Reading a data set's JSON: what is not as it should be is said in one sentence, with its place in the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from palazzo.errors import UsageError

T = TypeVar("T")

_CALLED: dict[type, str] = {str: "text", int: "a number", list: "a list", dict: "an object"}


class Malformed(ValueError):
    """A document is not what its reader reads; the message is a clause that says where."""


def load(path: Path) -> Any:
    """Return what a JSON file holds; UsageError when it cannot be read or is no JSON."""
    try:
        return json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not a JSON file ({error}); give the data set's own file.") from None


def entries(document: Any, kind: type[T], where: str) -> list[T]:
    """Return the members of a list, all of which must be of `kind`; Malformed otherwise."""
    if not isinstance(document, list):
        raise Malformed(f"{where} is not a list")
    for number, entry in enumerate(document, 1):
        if not isinstance(entry, kind):
            raise Malformed(f"entry {number} of {where} is not {_CALLED[kind]}")
    return document


def need(record: Mapping[str, Any], name: str, kind: type[T], where: str) -> T:
    """Return the field `name` of a record, which must be of `kind`; Malformed otherwise."""
    if name not in record:
        raise Malformed(f"{where} has no '{name}'")
    value = record[name]
    if not isinstance(value, kind):
        raise Malformed(f"'{name}' of {where} is not {_CALLED[kind]}")
    return value


def question(record: Mapping[str, Any], where: str) -> str:
    """Return what a record asks; Malformed where it asks nothing."""
    text = need(record, "question", str, where)
    if not text.strip():
        raise Malformed(f"'question' of {where} is empty")
    return text


def unique(name: str, taken: set[str]) -> str:
    """Return `name`, with a number behind it where it is `taken` already; it is taken from now on."""
    own, number = name, 1
    while own in taken:
        number += 1
        own = f"{name}~{number}"
    taken.add(own)
    return own
