"""Fast argument parser: reads the most frequent command lines without Typer: `search`, `show`, `wake-up`, `today`.

No command at all means `today`.

Importing Typer and its dependencies takes longer than a running service takes to answer. This module reads only simple
command lines: known options, each with its value, and words. For everything else (help, a wrong value, an unknown
option) it returns nothing, and Typer reads the line and reports the error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from palazzo.faces.cli.common_options import Common

if TYPE_CHECKING:
    from palazzo.operations.operation import Operation, RequestField

_COMMANDS = {"search": "search", "show": "show", "wake-up": "wake_up", "today": "today"}
_FLAGS = {"--json": "as_json", "--debug": "debug", "--no-pager": "no_pager"}
"""Common options without a value, and their fields."""
_NOTHING = object()


def parse_command_line(arguments: Sequence[str]) -> tuple[Operation[Any, Any], Any, Common] | None:
    """Return the operation, its request and the common options; None for a line that Typer must read."""
    if not arguments or arguments[0].startswith("-"):
        arguments = ["today", *arguments]  # common options alone; with others, or a command after them, Typer reads it
    if arguments[0] not in _COMMANDS or not all(arguments):
        return None
    from palazzo.operations import registry
    from palazzo.operations.operation import request_fields

    operation = registry.operation(_COMMANDS[arguments[0]])
    fields = [field for field in request_fields(operation.request) if not field.about.hidden]
    if any(field.about.stdin or field.about.file for field in fields):
        return None
    common = Common()
    values = _parse_words(arguments[1:], fields, common)
    if values is None or any(field.is_required and field.name not in values for field in fields):
        return None
    return operation, operation.request(**values), common


def run(operation: Operation[Any, Any], request: Any, common: Common) -> int:
    """Run it; return the exit code."""
    from palazzo.faces.cli import runner

    try:
        code = runner.run(operation, lambda: request, common)
    except BrokenPipeError:
        code = 0
    return runner.flush_output(code)


def _parse_words(words: Sequence[str], fields: Sequence[RequestField], common: Common) -> dict[str, Any] | None:
    """Return the words for each field; None if the line is not simple."""
    options = dict(_options(fields))
    positional = [field for field in fields if field.about.positional]
    raw_values: dict[str, list[str]] = {}
    loose: list[str] = []
    rest = iter(words)
    for word in rest:
        name, has_value, value = word.partition("=")
        if not word.startswith("-"):
            loose.append(word)
        elif name in _FLAGS and not has_value:
            setattr(common, _FLAGS[name], True)
        elif name == "--palace" and (path := value if has_value else next(rest, "")) and path[0] != "-":
            common.palace = Path(path)
        elif name in options and (field := options[name]).type is bool and not has_value:
            raw_values[field.name] = ["false" if field.default is True else "true"]
        elif name in options and options[name].type is not bool:
            value = value if has_value else next(rest, "")
            if not value or value.startswith("-"):
                return None
            raw_values.setdefault(options[name].name, []).append(value)
        else:
            return None
    if len(positional) > 1 or (loose and not positional):
        return None
    if loose:
        raw_values[positional[0].name] = loose
    values = {field.name: _value(field, raw_values[field.name]) for field in fields if field.name in raw_values}
    return None if _NOTHING in values.values() else values


def _options(fields: Sequence[RequestField]) -> Iterator[tuple[str, RequestField]]:
    for field in fields:
        if not field.about.positional:
            yield field.option, field


def _value(field: RequestField, words: list[str]) -> Any:
    """Return a field's value, in its type; a marker if it is not a valid value."""
    if field.about.words:
        return " ".join(words)
    if get_origin(field.type) is tuple:
        return tuple(words) if get_args(field.type)[0] is str else _NOTHING
    word = words[-1]
    if field.about.positional and len(words) > 1:
        return _NOTHING
    if field.type is bool:
        return word == "true"
    if field.type is str:
        return word
    if get_origin(field.type) is Literal:
        return word if word in get_args(field.type) else _NOTHING
    if field.type is int:
        return int(word) if word.isdecimal() and word.isascii() else _NOTHING
    return _NOTHING
