"""Predicates that have one value at a time by default, and when two of their values contradict each other. Pure.

The table is deliberately short: two values of these predicates at one time are nearly always a contradiction. It omits
predicates that may have several values (`uses`, `depends on`, `owned by`, `listens on`). Only values that match the
predicate's format are compared: `3.11` and `3.11.4` do not contradict each other, nor do versions of two products.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from palazzo.knowledge import statement_values
from palazzo.knowledge.statement_values import Value
from palazzo.text.lazy_patterns import make_regex
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
"""The format of a predicate's value, by the folded name of the predicate."""
VERSION = 1
"""Increases when the table or the comparison of values changes. All facts are then compared again."""
_PORT = make_regex(r"(?:(?:tcp |tcp/)?port )?(?P<port>\d{1,5})(?:/tcp)?")
_VERSION = make_regex(r"(?P<product>(?:[A-Za-z][\w.+#-]*\s+)*)v?(?P<version>\d+(?:\.\d+)*)")
_BRANCH = make_regex(r"[\w./-]+")
_DATE = make_regex(r"\d{4}-\d{2}-\d{2}")


def kind_of(predicate: str) -> SingleValue | None:
    """Return the format of a predicate's value, or None if the table does not have the predicate."""
    return SINGLE_VALUED.get(fold(predicate))


def contradict(kind: SingleValue, first: str, second: str) -> bool:
    """Return whether two values cannot both hold at one time."""
    if kind == "version":
        return _versions_contradict(first, second)
    first, second = (_normal_form(kind, value) for value in (first, second))
    return bool(first and second) and first != second


def _normal_form(kind: SingleValue, value: str) -> str:
    """Return a value in its form for comparison, or '' if it is not of this format."""
    text = statement_values.plain(value)
    if kind == "port":
        match = _PORT.fullmatch(text)
        return match["port"].lstrip("0") if match else ""
    pattern = _BRANCH if kind == "branch" else _DATE
    return text.removeprefix("origin/") if pattern.fullmatch(text) else ""


def _versions_contradict(first: str, second: str) -> bool:
    first_match, second_match = (_VERSION.fullmatch(statement_values.plain(value)) for value in (first, second))
    if not first_match or not second_match or fold(first_match["product"]) != fold(second_match["product"]):
        return False
    return statement_values.differ(Value("version", first_match["version"]), Value("version", second_match["version"]))
