"""Predicates that have one value at a time without anybody declaring so, and when two of their values differ. Pure.

The table is short on purpose: of these, two values at one time are nearly always a contradiction. What a subject may
have several of (`uses`, `depends on`, `owned by`, `listens on`) is not in it. Only values that are understood are
compared: `3.11` and `3.11.4` are no contradiction, nor are the versions of two products.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from palazzo.graph import values
from palazzo.graph.values import Value
from palazzo.text.names import fold

SingleValue = Literal["port", "version", "branch", "date"]

SINGLE_VALUED: Mapping[str, SingleValue] = {
    "port": "port",
    "has port": "port",
    "default port": "port",
    "is on port": "port",
    "runs on port": "port",
    "listens on port": "port",
    "serves on port": "port",
    "version": "version",
    "has version": "version",
    "is at version": "version",
    "runs version": "version",
    "uses version": "version",
    "current version": "version",
    "latest version": "version",
    "default branch": "branch",
    "has default branch": "branch",
    "main branch": "branch",
    "born on": "date",
    "birthday": "date",
    "date of birth": "date",
}
"""By the folded name of a predicate, what its value is."""
VERSION = 1
"""Goes up when the table, or how values are compared, changes: what is known already is then compared anew."""
_PORT = re.compile(r"(?:(?:tcp |tcp/)?port )?(?P<port>\d{1,5})(?:/tcp)?")
_VERSION = re.compile(r"(?P<product>(?:[A-Za-z][\w.+#-]*\s+)*)v?(?P<version>\d+(?:\.\d+)*)")
_BRANCH = re.compile(r"[\w./-]+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def kind_of(predicate: str) -> SingleValue | None:
    """Return what the value of a predicate is that has one at a time; None for all others."""
    return SINGLE_VALUED.get(fold(predicate))


def contradict(kind: SingleValue, one: str, other: str) -> bool:
    """Return whether two values cannot both hold at one time."""
    if kind == "version":
        return _versions_contradict(one, other)
    first, second = (_plain(kind, value) for value in (one, other))
    return bool(first and second) and first != second


def _plain(kind: SingleValue, value: str) -> str:
    text = values.plain(value)
    if kind == "port":
        found = _PORT.fullmatch(text)
        return found["port"].lstrip("0") if found else ""
    pattern = _BRANCH if kind == "branch" else _DATE
    return text.removeprefix("origin/") if pattern.fullmatch(text) else ""


def _versions_contradict(one: str, other: str) -> bool:
    found = [_VERSION.fullmatch(values.plain(value)) for value in (one, other)]
    if found[0] is None or found[1] is None or fold(found[0]["product"]) != fold(found[1]["product"]):
        return False
    first, second = (Value("version", match["version"]) for match in found if match is not None)
    return values.differ(first, second)
