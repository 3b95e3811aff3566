"""Argument parser: reads a command line into a command, its request, and the options that every command takes.

The syntax follows from the contracts: a request's fields are the arguments and options of its command, so only the
contract of the named command is imported. Options may stand anywhere; `--name=value` is `--name value`; after `--`
nothing is an option. The common options may also stand before the command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, TypeAlias, get_args, get_origin

from palazzo.errors import UsageError
from palazzo.faces.cli.command_table import is_group, load_command, unknown_command
from palazzo.faces.cli.common_options import Common
from palazzo.faces.cli.local_command import LocalCommand
from palazzo.frozen_class import frozen
from palazzo.operations.operation import FieldDescription, Operation, describe_fields

Command: TypeAlias = Operation[Any, Any] | LocalCommand

_HELP, _VERSION, _WITHOUT_EFFECT = "help", "version", "ignored"
_COMMON: Mapping[str, tuple[str, str | None]] = {
    "--palace": ("palace", None),
    "--json": ("as_json", "on"),
    "--debug": ("debug", "on"),
    "--no-pager": ("no_pager", "on"),
    "--help": (_HELP, "on"),
    "-h": (_HELP, "on"),
}
"""The spelling of an option, what it fills, and its value; None if a value follows it."""
_PROGRAM = {**_COMMON, "--version": (_VERSION, "on"), "-V": (_VERSION, "on")}
_YES = {"--yes": ("assume_yes", "on"), "-y": ("assume_yes", "on")}
_WORDS_OF_NUMBERS = {int: "integer", float: "float"}


class UnreadableLine(Exception):
    """A command line that cannot be read. `words` are those of the command whose help says more."""

    def __init__(self, message: str, words: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.words = tuple(words)


@frozen
class CommandLine:
    """A command line as read.

    `words` name the command, as typed; without a `command` they name a group, or nothing. `values` are those of the
    command's fields and, under `NAME ALIAS`, of their aliases.
    """

    words: tuple[str, ...]
    common: Common
    command: Command | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    asks_help: bool = False
    asks_version: bool = False

    @property
    def reads_input(self) -> bool:
        """Return whether the request may need standard input or a file."""
        return any(entry.about.stdin or entry.about.file for entry in fields_of(self.command))

    def request(self) -> Any:
        """Return the command's request; texts that it names are read. UsageError if they cannot be, or not all fit."""
        assert self.command is not None  # noqa: S101 - a line without a command shows help or the version
        return self.command.request(**dict(self._arguments()))

    def _arguments(self) -> Iterator[tuple[str, Any]]:
        for entry in fields_of(self.command):
            value = _value_or_alias(entry, self.values)
            if entry.about.stdin and (value is not None or not entry.optional):
                from palazzo.faces.cli.confirmation import text_or_stdin

                value = text_or_stdin(entry.name, value)
            elif entry.about.file and value is not None:
                from palazzo.faces.cli.confirmation import text_of_file

                value = text_of_file(value)
            if isinstance(value, str) and self._stores_text(entry):
                from palazzo.faces.cli.confirmation import require_utf8

                require_utf8(entry.name, value)
            if value is not None:
                yield entry.name, value

    def _stores_text(self, entry: FieldDescription) -> bool:
        """Return whether the field is a text that the command stores as text."""
        is_text = (entry.about.stdin or entry.about.file) and not entry.about.may_be_bytes
        return is_text and isinstance(self.command, Operation) and self.command.writes


def parse(arguments: Sequence[str]) -> CommandLine:
    """Return what a command line asks for. Raises UnreadableLine if it has no such command, or does not fit it."""
    words: tuple[str, ...] = ()
    common: dict[str, list[str]] = {}
    rest = list(arguments)
    while True:
        rest = _take_options(rest, _COMMON if words else _PROGRAM, common, words, before_command=True)
        if _VERSION in common or _HELP in common or not rest:
            return CommandLine(words, _common(common), None, {}, _HELP in common, _VERSION in common)
        if words or not is_group((rest[0],)):
            break
        words = (rest.pop(0),)
    typed = (*words, rest.pop(0))
    command = load_command(typed)
    if command is None:
        raise UnreadableLine(unknown_command(typed), words)
    texts_by_field: dict[str, list[str]] = {}
    positional_words = _take_options(rest, _spellings(command), texts_by_field, typed)
    palace = texts_by_field.get("palace", common.get("palace", []))
    shared = {**common, **texts_by_field, "palace": palace}
    if _HELP in texts_by_field:
        return CommandLine(typed, _common(shared), asks_help=True)
    try:
        return CommandLine(typed, _common(shared), command, dict(_values(command, texts_by_field, positional_words)))
    except ValueError as error:
        raise UnreadableLine(str(error), typed) from None


def fields_of(command: Command | None) -> list[FieldDescription]:
    """Return the fields of a command that a person may give."""
    return [] if command is None else [entry for entry in describe_fields(command.request) if not entry.about.hidden]


def option_spellings(command: Command) -> set[str]:
    """Return every spelling of an option that a command accepts."""
    return set(_spellings(command))


# --- options and words -------------------------------------------------------------------------------------


def _take_options(
    arguments: Sequence[str],
    options: Mapping[str, tuple[str, str | None]],
    texts_by_field: dict[str, list[str]],
    words: Sequence[str],
    before_command: bool = False,
) -> list[str]:
    """Add the options' values to `texts_by_field`, and return the other words.

    `before_command` stops at the first of these.
    """
    other_words: list[str] = []
    rest = list(reversed(arguments))
    while rest:
        word = rest.pop()
        if word == "--" or (before_command and not _is_option(word)):
            return [*other_words, *([] if word == "--" else [word]), *reversed(rest)]
        if not _is_option(word):
            other_words.append(word)
            continue
        if not word.startswith("--") and len(word) > 2:  # several in one word
            rest += [f"-{letter}" for letter in reversed(word[1:])]
            continue
        name, has_value, value = word.partition("=")
        if name not in options:
            raise UnreadableLine(_unknown_option(name, options), words)
        target, constant = options[name]
        if constant is None:
            if not has_value and not rest:
                raise UnreadableLine(f"Option '{name}' requires an argument.", words)
            value = value if has_value else rest.pop()
        elif has_value:
            raise UnreadableLine(f"Option '{name}' does not take a value.", words)
        texts_by_field.setdefault(target, []).append(value if constant is None else constant)
    return other_words


def _is_option(word: str) -> bool:
    return word.startswith("-") and len(word) > 1


def _unknown_option(name: str, options: Mapping[str, tuple[str, str | None]]) -> str:
    import difflib

    near = difflib.get_close_matches(name, [spelling for spelling in options if spelling.startswith("--")], 2, 0.7)
    suggestion = f" Did you mean {' or '.join(repr(spelling) for spelling in near)}?" if near else ""
    return f"No such option: {name}.{suggestion}"


def _spellings(command: Command) -> dict[str, tuple[str, str | None]]:
    spellings = dict.fromkeys(command.ignored_options, (_WITHOUT_EFFECT, "on")) | dict(_COMMON)
    if isinstance(command, Operation) and (command.destructive or command.asks is not None):
        spellings |= _YES
    for entry in fields_of(command):
        for alias in entry.about.aliases:
            spellings[alias] = (f"{entry.name} {alias}", None)
        if entry.about.positional:
            continue
        spellings[entry.option] = (entry.name, None if not entry.is_flag else "off" if entry.default is True else "on")
        if entry.is_flag and entry.default is True:
            spellings[f"--{entry.option.removeprefix('--no-')}"] = (entry.name, "on")
    return spellings


def _common(texts_by_field: Mapping[str, Sequence[str]]) -> Common:
    palace = [*texts_by_field.get("palace", ())]
    as_json, debug, assume_yes, no_pager = (
        bool(texts_by_field.get(name)) for name in ("as_json", "debug", "assume_yes", "no_pager")
    )
    return Common(Path(palace[-1]) if palace else None, as_json, debug, assume_yes, no_pager)


# --- values ------------------------------------------------------------------------------------------------


def _values(
    command: Command, texts_by_field: Mapping[str, Sequence[str]], positional_words: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    """Yield the values of the fields, and of their aliases. Raises ValueError for one that does not fit."""
    start = 0
    for entry in fields_of(command):
        texts = texts_by_field.get(entry.name, ())
        if entry.about.positional:
            texts = positional_words[start:] if entry.is_repeatable else positional_words[start : start + 1]
            start += len(texts)
            if not texts and entry.is_required and not entry.about.stdin:
                raise ValueError(f"Missing argument '{_display_name(entry)}'.")
        elif not texts and entry.is_required:
            raise ValueError(f"Missing option '{entry.option}'.")
        if texts:
            yield entry.name, _value(entry, texts)
        for alias in entry.about.aliases:
            if texts := texts_by_field.get(f"{entry.name} {alias}", ()):
                yield f"{entry.name} {alias}", _convert(entry.type, texts[-1], alias)
    if extra := positional_words[start:]:
        raise ValueError(f"Got unexpected extra argument{'s'[: len(extra) > 1]} ({' '.join(extra)}).")


def _value(entry: FieldDescription, texts: Sequence[str]) -> Any:
    if entry.about.words:
        return " ".join(texts)
    if get_origin(entry.type) is tuple:
        return tuple(_convert(get_args(entry.type)[0], text, _display_name(entry)) for text in texts)
    if entry.is_flag:
        return texts[-1] == "on"
    if entry.choices and texts[-1] not in entry.choices:
        choices = ", ".join(map(repr, entry.choices))
        raise ValueError(f"Invalid value for '{_display_name(entry)}': {texts[-1]!r} is not one of {choices}.")
    return _convert(entry.type, texts[-1], _display_name(entry))


def _convert(kind: Any, text: str, shown: str) -> Any:
    if kind is Path:
        if not text:  # it means an unset variable, not the current directory
            raise ValueError(f"Invalid value for '{shown}': it is empty; '.' is the current directory.")
        return Path(text)
    if kind not in _WORDS_OF_NUMBERS:
        return text
    try:
        return kind(text)
    except ValueError:
        message = f"Invalid value for '{shown}': {text!r} is not a valid {_WORDS_OF_NUMBERS[kind]}."
        raise ValueError(message) from None


def _display_name(entry: FieldDescription) -> str:
    return entry.placeholder if entry.about.positional else entry.option


def _value_or_alias(entry: FieldDescription, values: Mapping[str, Any]) -> Any:
    """Return what was given for a field, by its own name or by an alias; UsageError for both."""
    value = values.get(entry.name)
    for alias in entry.about.aliases:
        other = values.get(f"{entry.name} {alias}")
        if other is not None and value is not None and value != entry.default:
            name = entry.placeholder if entry.about.positional else entry.option
            raise UsageError(f"{alias} is another name of {name}: give only one of them.")
        value = value if other is None else other
    return value
