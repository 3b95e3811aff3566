"""Help pages: of the program, of a group of commands, and of a command.

The page of the program imports no operation, and none imports Rich: help is there at once.
"""

from __future__ import annotations

from palazzo.faces.cli import help_layout
from palazzo.faces.cli.command_table import aliases_of, command_names, full_words, is_group, load_command
from palazzo.operations import registry
from palazzo.operations.command_groups import COMMAND_GROUPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from palazzo.faces.cli.local_command import LocalCommand
    from palazzo.operations.operation import FieldDescription, Operation

ABOUT = "A memory for coding agents, on your own machine: exact words, found again in milliseconds."
_PALACE_HELP = "Use this palace instead of the configured one."
_DEBUG_HELP = "Show where an error occurred."
_JSON_HELP = "Print one JSON document instead of text."
_PAGER_HELP = "Do not show long output in a pager."
_YES_HELP = "Do not ask for confirmation."
_HELP_HELP = "Show this help."
_MORE = (
    "'palazzo help COMMAND' shows a command's options and examples. Every command takes --json, --palace PATH, --debug "
    "and --help; 'palazzo --version' prints the version."
)


def page(words: Sequence[str]) -> list[str] | None:
    """Return the lines of the help of a command, a group or, without words, the program; None if there is no such."""
    width = help_layout.output_width()
    if not words:
        return list(_program_page(width))
    typed = full_words(words)
    if is_group(typed):
        return list(_group_page(typed[0], width))
    command = load_command(typed)
    return None if command is None else list(_command_page(typed, command, width))


def document(words: Sequence[str]) -> dict[str, Any] | None:
    """Return the same as a JSON document."""
    typed = full_words(words)
    if not words:
        groups = [{"group": group.heading, "commands": _installed(group.summaries)} for group in COMMAND_GROUPS]
        return {"command": "palazzo", "help": ABOUT, "groups": groups}
    if is_group(typed):
        commands = dict(_subcommands(typed[0]))
        return {"command": f"palazzo {typed[0]}", "help": registry.GROUPS[typed[0]], "commands": commands}
    command = load_command(typed)
    if command is None:
        return None
    return {
        "command": f"palazzo {' '.join(typed)}",
        "aliases": aliases_of(typed),
        "help": "\n\n".join(" ".join(part.split()) for part in command.help.split("\n\n")),
        "arguments": dict(_arguments(command)),
        "options": dict(_options(command)),
        "examples": list(command.examples),
    }


def usage(words: Sequence[str], command: Operation[Any, Any] | LocalCommand) -> str:
    """Return how a command is typed."""
    places = [_argument(field) for field in _visible_fields(command) if field.about.positional]
    return " ".join(["palazzo", *words, *places, "[OPTIONS]"])


# --- pages -------------------------------------------------------------------------------------------------


def _program_page(width: int) -> Iterator[str]:
    yield from help_layout.wrap(ABOUT, width)
    yield ""
    yield from _section("Usage", ["palazzo COMMAND [ARGUMENTS] [OPTIONS]"], width)
    installed = [(group.heading, _installed(group.commands), _installed(group.further)) for group in COMMAND_GROUPS]
    longest = max(len(name) for _, commands, _ in installed for name in commands)
    for title, commands, further in installed:
        yield ""
        yield help_layout.heading(title)
        yield from help_layout.columns([(name.ljust(longest), text) for name, text in commands.items()], width)
        if further:
            yield from help_layout.indented([f"Also: {', '.join(further)}"], width)
    yield ""
    yield from help_layout.wrap(_MORE, width)


def _group_page(name: str, width: int) -> Iterator[str]:
    yield from help_layout.wrap(registry.GROUPS[name], width)
    yield ""
    yield from _section("Usage", [f"palazzo {name} COMMAND [ARGUMENTS] [OPTIONS]"], width)
    yield ""
    yield help_layout.heading("Commands")
    yield from help_layout.columns(list(_subcommands(name)), width)
    yield ""
    yield help_layout.heading("Options")
    yield from help_layout.columns(list(_shared_options()), width)
    yield ""
    yield from help_layout.wrap(f"'palazzo help {name} COMMAND' shows a command's options and examples.", width)


def _command_page(words: Sequence[str], command: Operation[Any, Any] | LocalCommand, width: int) -> Iterator[str]:
    yield from help_layout.paragraphs(command.help, width)
    yield ""
    yield from _section("Usage", [usage(words, command)], width)
    if aliases := aliases_of(words):
        yield from _section("Alias", [f"palazzo {alias}" for alias in aliases], width)
    for title, rows in (("Arguments", [*_arguments(command)]), ("Options", [*_options(command)])):
        if rows:
            yield ""
            yield help_layout.heading(title)
            yield from help_layout.columns(rows, width)
    yield ""
    yield help_layout.heading("Shared options")
    yield from help_layout.columns(list(_shared_options()), width)
    if command.examples:
        yield ""
        yield help_layout.heading("Examples")
        for example in command.examples:
            yield from help_layout.indented([f"$ {example}"], width, continued=" \\")


def _section(title: str, texts: Sequence[str], width: int) -> list[str]:
    """Return texts on the line of their title, if it fits, else below it."""
    if len(title) + 2 + len(texts[0]) <= width and len(texts) == 1:
        return [f"{help_layout.heading(f'{title}:')} {texts[0]}"]
    return [help_layout.heading(title), *help_layout.indented(texts, width)]


# --- rows --------------------------------------------------------------------------------------------------


def _installed(summaries: Mapping[str, str]) -> dict[str, str]:
    known = set(command_names())
    return {name: text for name, text in summaries.items() if name in known}


def _subcommands(group: str) -> Iterator[tuple[str, str]]:
    for name in command_names((group,)):
        command = load_command((group, name))
        if command is not None:
            yield name, first_sentence(command.help)


def first_sentence(text: str) -> str:
    """Return a docstring's first sentence, up to its first colon, without the full stop."""
    line = " ".join(text.split("\n\n")[0].split())
    sentence = line.split(". ")[0].removesuffix(".")
    return sentence.split(": ")[0].split("; ")[0]


def _visible_fields(command: Operation[Any, Any] | LocalCommand) -> Iterator[FieldDescription]:
    from palazzo.operations.operation import describe_fields

    return (field for field in describe_fields(command.request) if not field.about.hidden)


def _argument(field: FieldDescription) -> str:
    name = f"{field.placeholder}..." if field.is_repeatable else field.placeholder
    return name if field.is_required else f"[{name}]"


def _arguments(command: Operation[Any, Any] | LocalCommand) -> Iterator[tuple[str, str]]:
    for field in _visible_fields(command):
        if field.about.positional:
            yield field.placeholder, _description(field)


def _options(command: Operation[Any, Any] | LocalCommand) -> Iterator[tuple[str, str]]:
    names = set()
    for field in _visible_fields(command):
        if not field.about.positional:
            names.add(field.option)
            yield f"{field.option} {field.placeholder}".rstrip(), _description(field)
    asks = getattr(command, "destructive", False) or getattr(command, "asks", None) is not None
    if asks and "--yes" not in names:
        yield "-y, --yes", _YES_HELP


def _description(field: FieldDescription) -> str:
    """Return a field's help, its choices, unless the help lists them, and its default."""
    text = field.help
    if not all(choice in text for choice in field.choices):
        text += f" One of {', '.join(field.choices)}."
    if field.is_required or field.default in (None, False, True, (), "", 0):
        return text
    return text if "Default:" in text else f"{text} Default: {field.default}."


def _shared_options() -> Iterator[tuple[str, str]]:
    yield "--json", _JSON_HELP
    yield "--palace PATH", _PALACE_HELP
    yield "--no-pager", _PAGER_HELP
    yield "--debug", _DEBUG_HELP
    yield "-h, --help", _HELP_HELP
