"""The application: its commands are those of the command table, each bound on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from palazzo.faces.cli import command_binding, command_table, error_messages, help_layout, help_pages, runner
from palazzo.faces.cli.common_options import Common
from palazzo.faces.cli.runner import flush_output
from palazzo.operations import registry
from palazzo.operations.command_groups import ALIASES

PROGRAM = "palazzo"
_ParserError: type[Any] = typer.BadParameter.__base__  # type: ignore[assignment]
"""What Typer raises for a line that it cannot read; it has no public name for all of these."""


def run(arguments: list[str]) -> int:
    """Run `arguments`; return the exit code."""
    as_json = wants_json(arguments)
    command = typer.main.get_command(_application())
    try:
        code: object = command.main(args=arguments, prog_name=PROGRAM, standalone_mode=False)
    except SystemExit as stop:
        code = stop.code
    except KeyboardInterrupt:
        code = error_messages.INTERRUPT
    except BrokenPipeError:
        code = 0
    except _ParserError as error:
        code = error_messages.wrong_usage(error.format_message(), _where_help_is(error), as_json)
    except Exception as error:  # noqa: BLE001 - whatever else is raised is a bug, and is reported as one
        code = error_messages.bug(error, arguments, "--debug" in arguments, as_json)
    return flush_output(code if isinstance(code, int) else 0 if code is None else 1)


def wants_json(arguments: Sequence[str]) -> bool:
    """Return whether a line that may not be readable asks for JSON."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def _where_help_is(error: Any) -> str:
    path = error.ctx.command_path.split()[1:] if error.ctx is not None else []
    return f"See '{' '.join([PROGRAM, 'help', *path])}'."


class Commands(TyperGroup):
    """The commands of the table. Importing a command costs only the import of its own module."""

    above: tuple[str, ...] = ()

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names, in the registry's order."""
        return command_table.command_names(self.above)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name, or None."""
        name = cmd_name if self.above else ALIASES.get(cmd_name, cmd_name)
        if not self.above and command_table.is_group((name,)):
            return _group(name)
        command = command_table.load_command((*self.above, name))
        return None if command is None else _command((*self.above, name), command_binding.callback(command))

    def invoke(self, ctx: Any) -> Any:
        """Invoke the command; remove the validator's prefix from the message of an invalid value."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that `args` begin with; Typer itself knows only the commands bound so far."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            ctx.fail(command_table.unknown_command((*self.above, args[0])))
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: Any) -> str:
        """Return the help of the program or of a group."""
        return _help(self.above)


class SingleCommand(TyperCommand):
    """One command; its help is Palazzo's own page."""

    words: tuple[str, ...] = ()

    def get_help(self, ctx: Any) -> str:
        """Return the help of the command."""
        return _help(self.words)


def _help(words: Sequence[str]) -> str:
    return "\n".join(help_pages.page(words) or ())


def _command(words: tuple[str, ...], callback: Callable[..., None]) -> Any:
    typer_app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    typer_app.command(words[-1], cls=type("CommandOfTable", (SingleCommand,), {"words": words}))(callback)
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
    palace: Annotated[Path | None, typer.Option("--palace")] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    debug: Annotated[bool, typer.Option("--debug")] = False,
    no_pager: Annotated[bool, typer.Option("--no-pager")] = False,
    version: Annotated[bool, typer.Option("--version", "-V")] = False,
) -> None:
    context.obj = Common(palace=palace, as_json=as_json, debug=debug, no_pager=no_pager)
    if version:
        from palazzo import __version__

        print(f"{PROGRAM} {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        today = registry.operation("today")
        raise typer.Exit(runner.run(today, today.request, context.obj))


def _before_any_of_group(
    context: typer.Context,
    palace: Annotated[Path | None, typer.Option("--palace")] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    debug: Annotated[bool, typer.Option("--debug")] = False,
) -> None:
    outer = context.obj if isinstance(context.obj, Common) else Common()
    context.obj = Common(
        palace=palace or outer.palace,
        as_json=as_json or outer.as_json,
        debug=debug or outer.debug,
        no_pager=outer.no_pager,
    )
    _help_unless_command(context, (str(context.info_name),))


def _help_unless_command(context: typer.Context, words: tuple[str, ...]) -> None:
    if context.invoked_subcommand is not None:
        return
    if context.obj.as_json:
        from palazzo.faces.cli.json_output import write_json

        write_json(help_pages.document(words))
    else:
        help_layout.write(help_pages.page(words) or ())
    raise typer.Exit
