"""Completion of a command line: the values that its last word can have. A shell calls it at every press of Tab."""

from __future__ import annotations

from palazzo.faces.cli.command_table import command_names, full_words, is_group, module_of
from palazzo.faces.cli.help_layout import write
from palazzo.operations.command_groups import ALIASES, summary_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from palazzo.faces.cli.completion_fields import CompletedField

FILES = ":files"
"""The line that asks the shell to complete files."""
_SHARED = ("--json", "--palace", "--no-pager", "--debug", "--help")
_PLACES = ("wing", "room")
"""Fields whose values are names in the palace."""
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
    path, arguments = _typed_command(previous)
    option, has_value, begun = current.partition("=")
    if has_value and option.startswith("--"):
        return [
            (value if value == FILES else f"{option}={value}", text)
            for value, text in _possible_values(path, arguments, previous, option, begun)
        ]
    if current.startswith("-"):
        return _beginning(_options(path, previous), current)
    return _possible_values(path, arguments, previous, previous[-1] if previous else "", current)


def _joined(words: Sequence[str]) -> list[str]:
    """Return the words without the equals signs that bash makes words of their own."""
    plain = [word for word in words if word != "="]
    return [*plain, ""] if words[-1] == "=" else plain


def _possible_values(
    path: Sequence[str], arguments: Sequence[str], previous: Sequence[str], option: str, begun: str
) -> list[Value]:
    """Return the values of an option, or of the next argument if `option` is none that takes a value."""
    if option == "--palace":
        return [(FILES, "")]
    fields = _fields(path)
    if fields is None:
        return _beginning(_subcommands(path), begun)
    if path == ("help",):
        return _beginning(_subcommands(full_words(arguments)), begun)
    field = next((field for field in fields if not field.is_flag and option in field.spellings), None)
    if field is None:
        field = _next_argument([field for field in fields if field.is_positional], len(arguments))
    return [] if field is None else _values_of(field, previous, begun)


def _typed_command(previous: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the words of the command that is being typed, and the words after it without options and their values."""
    path: tuple[str, ...] = ()
    arguments: list[str] = []
    takes_value = {"--palace"}
    is_value = False
    for word in previous:
        if is_value:
            is_value = False
        elif word.startswith("-"):
            is_value = word in takes_value
        elif module_of(path) is not None:
            arguments.append(word)
        else:
            path = full_words((*path, word))
            takes_value |= {
                spelling for field in _fields(path) or () if not field.is_flag for spelling in field.spellings
            }
    return path, arguments


def _fields(path: Sequence[str]) -> list[CompletedField] | None:
    if module_of(path) is None:  # a group, or no command at all: nothing need be read
        return None
    from palazzo.faces.cli.completion_fields import completed_fields

    return completed_fields(path)


def _subcommands(path: Sequence[str]) -> Iterator[Value]:
    if path and not is_group(path):
        return
    for name in command_names(path):
        yield name, "" if path else summary_of(name)
    if not path:
        yield from ((alias, summary_of(name)) for alias, name in ALIASES.items())


def _options(path: Sequence[str], previous: Sequence[str]) -> Iterator[Value]:
    for field in _fields(path) or ():
        if not field.is_positional and (field.is_repeatable or field.option not in previous):
            yield field.option, field.help
    yield from ((option, "") for option in _SHARED if option not in previous)
    if not path:
        yield "--version", ""


def _next_argument(positional: Sequence[CompletedField], count: int) -> CompletedField | None:
    if count < len(positional):
        return positional[count]
    return positional[-1] if positional and positional[-1].is_repeatable else None


def _values_of(field: CompletedField, previous: Sequence[str], begun: str) -> list[Value]:
    if field.values:
        return _beginning(((value, "") for value in field.values), begun)
    if field.name in _PLACES:
        return _beginning(((name, "") for name in _place_names(field.name, previous)), begun)
    return [(FILES, "")] if field.is_file else []


def _place_names(kind: str, previous: Sequence[str]) -> list[str]:
    import os

    from palazzo.operations.place_completion import place_names

    palace = previous[previous.index("--palace") + 1] if "--palace" in previous[:-1] else None
    return [name for name in place_names(kind, palace, os.environ) if _is_safe(name)]


def _is_safe(name: str) -> bool:
    return all(letter.isalnum() or letter in _SAFE_IN_A_SHELL for letter in name) and not name.startswith("-")


def _beginning(candidates: Iterable[Value], begun: str) -> list[Value]:
    return [(value, text) for value, text in candidates if value.startswith(begun)]
