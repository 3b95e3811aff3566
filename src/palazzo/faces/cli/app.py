"""The application: its commands are the registry's operations, each bound on first use."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from palazzo.faces.cli import command_binding, error_messages, runner
from palazzo.faces.cli.common_options import Common
from palazzo.faces.cli.runner import flush_output
from palazzo.operations import registry

PROGRAM = "palazzo"
_EXTRA_COMMANDS = {"mcp": "palazzo.faces.cli.mcp_command", "statusline": "palazzo.faces.cli.status_line_help"}
"""Commands that are not operations but serve them. Each module defines a function with the command's name."""


def run(arguments: list[str]) -> int:
    """Run `arguments`; return the exit code."""
    command = typer.main.get_command(_application())
    try:
        command.main(args=arguments, prog_name=PROGRAM)
        code: object = 0
    except SystemExit as stop:
        code = stop.code
    except KeyboardInterrupt:
        code = error_messages.INTERRUPT
    except BrokenPipeError:
        code = 0
    except Exception as error:  # noqa: BLE001 - whatever else is raised is a bug, and is reported as one
        code = error_messages.bug(error, arguments, "--debug" in arguments)
    return flush_output(code if isinstance(code, int) else 0 if code is None else 1)


class Commands(TyperGroup):
    """The operations as commands. Importing a command costs only the import of its own module."""

    above: tuple[str, ...] = ()

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names, in the registry's order."""
        depth = len(self.above)
        command_words = [
            *(registry.split_command_name(name) for name in registry.MODULES),
            *((name,) for name in _EXTRA_COMMANDS),
        ]
        return list(dict.fromkeys(words[depth] for words in command_words if words[:depth] == self.above))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name, or None."""
        command_words = (*self.above, cmd_name)
        if not self.above and cmd_name in registry.GROUPS:
            return _group(cmd_name)
        names = {registry.split_command_name(name): name for name in registry.MODULES}
        if command_words in names:
            return _command(cmd_name, command_binding.callback(registry.operation(names[command_words])))
        if not self.above and cmd_name in _EXTRA_COMMANDS:
            return _command(cmd_name, getattr(importlib.import_module(_EXTRA_COMMANDS[cmd_name]), cmd_name))
        return None

    def invoke(self, ctx: Any) -> Any:
        """Invoke the command; remove the validator's prefix from the message of an invalid value."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that `args` begin with; Typer itself knows only the commands bound so far."""
        near = difflib.get_close_matches(args[0], self.list_commands(ctx)) if args else []
        if near and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"No such command '{args[0]}'. Did you mean {_either(near)}?")
        return super().resolve_command(ctx, args)


def _either(names: list[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)


def _command(name: str, callback: Callable[..., None]) -> Any:
    typer_app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    typer_app.command(name)(callback)
    return typer.main.get_command(typer_app)


def _group(name: str) -> Any:
    """Return a command group."""
    commands = type("CommandsOfGroup", (Commands,), {"above": (name,)})
    group = typer.Typer(cls=commands, name=name, add_completion=False, pretty_exceptions_enable=False)
    group.callback(invoke_without_command=True, help=registry.GROUPS[name])(_before_any_of_group)
    return typer.main.get_command(group)


def _application() -> typer.Typer:
    application = typer.Typer(
        cls=Commands,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    application.callback(invoke_without_command=True)(_before_any_command)
    return application


def _before_any_command(
    context: typer.Context,
    palace: Annotated[Path | None, typer.Option("--palace", help=command_binding.PALACE_HELP)] = None,
    debug: Annotated[
        bool, typer.Option("--debug", help=command_binding.DEBUG_HELP, metavar=command_binding.NO_VALUE)
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version.", metavar=command_binding.NO_VALUE)
    ] = False,
) -> None:
    """A memory for coding agents, on your own machine: exact words, found again in milliseconds."""
    context.obj = Common(palace=palace, debug=debug)
    if version:
        from palazzo import __version__

        print(f"{PROGRAM} {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        today = registry.operation("today")
        raise typer.Exit(runner.run(today, today.request, context.obj))


def _before_any_of_group(
    context: typer.Context,
    palace: Annotated[Path | None, typer.Option("--palace", help=command_binding.PALACE_HELP)] = None,
    debug: Annotated[
        bool, typer.Option("--debug", help=command_binding.DEBUG_HELP, metavar=command_binding.NO_VALUE)
    ] = False,
) -> None:
    outer_options = context.obj if isinstance(context.obj, Common) else Common()
    context.obj = Common(palace=palace or outer_options.palace, debug=debug or outer_options.debug)
    _help_unless_command(context)


def _help_unless_command(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit
