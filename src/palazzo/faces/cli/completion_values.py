"""Completion of a command line: the values that its last word can have. A shell calls it at every press of Tab.

It imports neither Typer nor more than the command that is being typed.
"""

from __future__ import annotations

from palazzo.faces.cli.command_table import command_names, full_words, is_group, load_command
from palazzo.faces.cli.help_layout import write
from palazzo.operations.command_groups import ALIASES, summary_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from palazzo.faces.cli.local_command import LocalCommand
    from palazzo.operations.operation import Operation, RequestField

FILES = ":files"
"""The line that asks the shell to complete files."""
_SHARED = ("--json", "--palace", "--no-pager", "--debug", "--help")
_PLACES = {"wing": "wing_list", "room": "room_list"}
"""The operations that list the values of a field, by its name."""
_SAFE_IN_A_SHELL = "-_.@+"
"""What a name may have besides letters and digits to be offered: a shell runs what it completes."""

Value = tuple[str, str]


def run(words: Sequence[str]) -> int:
    """Print the values of the last word; return 0."""
    write(f"{value}\t{text}" if text else value for value, text in values([*words] or [""]))
    return 0


def values(words: Sequence[str]) -> list[Value]:
    """Return the values that the last of the words can have, each with a description or ''."""
    *previous, current = _joined(words)
    option, has_value, begun = current.partition("=")
    if has_value and option.startswith("--"):
        return [(f"{option}={value}", text) for value, text in _possible_values(previous, option, begun)]
    if current.startswith("-"):
        return _beginning(_options(previous), current)
    return _possible_values(previous, previous[-1] if previous else "", current)


def _joined(words: Sequence[str]) -> list[str]:
    """Return the words without the equals signs that bash makes words of their own."""
    plain = [word for word in words if word != "="]
    return [*plain, ""] if words[-1] == "=" else plain


def _possible_values(previous: Sequence[str], option: str, begun: str) -> list[Value]:
    """Return the values of an option, or of the next argument if `option` is none that takes a value."""
    if option == "--palace":
        return [(FILES, "")]
    path, arguments = _command_path(previous)
    command = load_command(path) if path else None
    if command is None:
        return _beginning(_subcommands(path), begun)
    fields = _visible_fields(command)
    field = next((field for field in fields if not field.is_flag and option in _spellings(field)), None)
    if field is None:
        field = _next_argument(command, [field for field in fields if field.about.positional], len(arguments))
    return [] if field is None else _values_of(field, previous, begun)


def _command_path(previous: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the words of the command that is being typed, and the words after it without options and their values."""
    path: tuple[str, ...] = ()
    arguments: list[str] = []
    takes_value = {"--palace"}
    is_value = False
    command = None
    for word in previous:
        if is_value:
            is_value = False
        elif word.startswith("-"):
            is_value = word in takes_value
        elif command is not None:
            arguments.append(word)
        else:
            path = full_words((*path, word))
            command = load_command(path)
            if command is not None:
                fields = [field for field in _visible_fields(command) if not field.is_flag]
                takes_value |= {spelling for field in fields for spelling in _spellings(field)}
            elif not is_group(path):
                return path, []
    return path, arguments


def _subcommands(path: Sequence[str]) -> Iterator[Value]:
    if path and not is_group(path):
        return
    for name in command_names(path):
        yield name, "" if path else summary_of(name)
    if not path:
        yield from ((alias, summary_of(name)) for alias, name in ALIASES.items())


def _options(previous: Sequence[str]) -> Iterator[Value]:
    path, _ = _command_path(previous)
    command = load_command(path) if path else None
    if command is not None:
        for field in _visible_fields(command):
            if not field.about.positional and (field.is_repeatable or field.option not in previous):
                yield field.option, field.help
        if getattr(command, "destructive", False) or getattr(command, "asks", None) is not None:
            yield "--yes", ""
    yield from ((option, "") for option in _SHARED if option not in previous)
    if not path:
        yield "--version", ""


def _next_argument(
    command: Operation[Any, Any] | LocalCommand, positional: Sequence[RequestField], count: int
) -> RequestField | None:
    if count < len(positional):
        return positional[count]
    return positional[-1] if positional and positional[-1].is_repeatable else None


def _values_of(field: RequestField, previous: Sequence[str], begun: str) -> list[Value]:
    if choices := field.choices or field.about.values:
        return _beginning(((choice, "") for choice in choices), begun)
    if field.name == "command":
        path = tuple(previous[1:])
        return _beginning(_subcommands(path), begun)
    if field.name in _PLACES:
        return _beginning(((name, "") for name in _place_names(field.name, previous)), begun)
    wants_file = "Path" in str(field.type) or field.about.file or {"PATH", "FILE", "DIR"} & set(_words(field))
    return [(FILES, "")] if wants_file else []


def _words(field: RequestField) -> list[str]:
    return "".join(letter if letter.isalpha() else " " for letter in field.placeholder).split()


def _place_names(kind: str, previous: Sequence[str]) -> list[str]:
    """Return the names of wings or rooms. A shell has no place for an error: without a palace there are none."""
    from pathlib import Path

    from palazzo.errors import PalazzoError
    from palazzo.operations import registry
    from palazzo.operations.context import Context

    palace = previous[previous.index("--palace") + 1] if "--palace" in previous[:-1] else None
    operation = registry.operation(_PLACES[kind])
    try:
        with Context(palace=None if palace is None else Path(palace)) as context:
            result = operation.run(context, operation.request())
    except PalazzoError:
        return []
    names = (getattr(place, kind) for place in getattr(result, f"{kind}s"))
    return list(dict.fromkeys(name for name in names if _is_safe(name)))


def _is_safe(name: str) -> bool:
    return all(letter.isalnum() or letter in _SAFE_IN_A_SHELL for letter in name) and not name.startswith("-")


def _visible_fields(command: Operation[Any, Any] | LocalCommand) -> list[RequestField]:
    from palazzo.operations.operation import request_fields

    return [field for field in request_fields(command.request) if not field.about.hidden]


def _spellings(field: RequestField) -> tuple[str, ...]:
    return field.about.aliases if field.about.positional else (field.option, *field.about.aliases)


def _beginning(candidates: Iterable[Value], begun: str) -> list[Value]:
    return [(value, text) for value, text in candidates if value.startswith(begun)]
