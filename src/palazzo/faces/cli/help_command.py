"""The command palazzo help: shows the help of the program, of a group or of a command."""

from __future__ import annotations

from typing import Annotated

from palazzo.errors import NotFound
from palazzo.faces.cli import help_layout, help_pages
from palazzo.faces.cli.command_table import unknown_command
from palazzo.faces.cli.common_options import Common
from palazzo.faces.cli.local_command import LocalCommand
from palazzo.frozen_class import frozen
from palazzo.operations.operation import About


@frozen
class HelpRequest:
    """The command that is asked about."""

    command: Annotated[
        tuple[str, ...],
        About("A command, with its subcommand if it has one; all commands by default.", positional=True),
    ] = ()


def show_help(request: HelpRequest, common: Common) -> int:
    """Show what Palazzo can do, or how a command is used.

    'palazzo COMMAND --help' shows the same.
    """
    if common.as_json:
        from palazzo.faces.cli.json_output import write_json

        document = help_pages.document(request.command)
        if document is not None:
            write_json(document)
            return 0
    elif (lines := help_pages.page(request.command)) is not None:
        help_layout.write(lines)
        return 0
    raise NotFound(f"{unknown_command(request.command)} 'palazzo help' lists the commands.")


COMMAND = LocalCommand(
    "help", HelpRequest, show_help, examples=("palazzo help search", "palazzo help kg add", "palazzo help --json")
)
