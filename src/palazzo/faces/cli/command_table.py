"""Command table: the commands that a person may type, by their words. It imports a command only when asked for it.

Commands are the operations of the registry and the local commands of this package, such as `help`.
"""

from __future__ import annotations

import importlib

from palazzo.operations import registry
from palazzo.operations.command_groups import ALIASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from palazzo.faces.cli.local_command import LocalCommand
    from palazzo.operations.operation import Operation

LOCAL_COMMANDS = {
    "mcp": "palazzo.faces.cli.mcp_command",
    "statusline": "palazzo.faces.cli.status_line_help",
    "completion": "palazzo.faces.cli.completion_command",
    "help": "palazzo.faces.cli.help_command",
    "team serve": "palazzo.faces.cli.team_serve_command",
    "team invite": "palazzo.faces.cli.team_invite_command",
    "team doctor": "palazzo.faces.cli.team_doctor_command",
    "team purge": "palazzo.faces.cli.team_purge_command",
}
"""Commands that are not operations but serve them, by their words. Each module defines `COMMAND`."""


def command_names(above: Sequence[str] = ()) -> list[str]:
    """Return the names of all commands, or of the subcommands of the group `above`, in the registry's order."""
    depth = len(above)
    names: list[tuple[str, ...]] = [
        *map(registry.split_command_name, registry.FEATURES),
        *(tuple(name.split()) for name in LOCAL_COMMANDS),
    ]
    return list(dict.fromkeys(words[depth] for words in names if words[:depth] == tuple(above)))


def is_group(words: Sequence[str]) -> bool:
    """Return whether the words name a group of subcommands."""
    return len(words) == 1 and words[0] in registry.GROUPS


def full_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words with an alias of a command replaced by its name."""
    return (ALIASES.get(words[0], words[0]), *words[1:]) if words else ()


def aliases_of(words: Sequence[str]) -> list[str]:
    """Return the short names of a command."""
    return [alias for alias, name in ALIASES.items() if (name,) == tuple(words)]


def module_of(words: Sequence[str]) -> str | None:
    """Return the module of the command of these words; None if there is none, or if it is a group."""
    typed = full_words(words)
    name = _operation_of(typed)
    if name is not None:
        return registry.contract_of(name)
    return LOCAL_COMMANDS.get(" ".join(typed))


def load_command(words: Sequence[str]) -> Operation[Any, Any] | LocalCommand | None:
    """Return the command of these words; None if there is none, or if it is a group."""
    typed = full_words(words)
    name = _operation_of(typed)
    if name is not None:
        return registry.operation(name)
    module = LOCAL_COMMANDS.get(" ".join(typed))
    if module is None:
        return None
    command: LocalCommand = importlib.import_module(module).COMMAND
    return command


def _operation_of(words: tuple[str, ...]) -> str | None:
    return next((name for name in registry.FEATURES if registry.split_command_name(name) == words), None)


def unknown_command(words: Sequence[str]) -> str:
    """Return the message for words that name no command."""
    import difflib

    above = words[:-1] if is_group(words[:-1]) else ()
    word = words[len(above)] if len(words) > len(above) else ""
    near = difflib.get_close_matches(word, [*command_names(above), *([] if above else ALIASES)], 2, 0.7)
    suggestion = f" Did you mean {' or '.join(repr(name) for name in near)}?" if near else ""
    return f"No such command '{word}'.{suggestion}"
